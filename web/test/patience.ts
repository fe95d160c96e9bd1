import { configure } from "@testing-library/react";

// A test waits for a fact, which a busy machine brings late: the library's own limit is one second.
configure({ asyncUtilTimeout: 60_000 });
