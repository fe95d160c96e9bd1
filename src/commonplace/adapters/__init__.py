"""Memory streams where other frameworks expect their own parts: a file per framework, each an extra of its own.

| | |
|---|---|
| `langchain` | `MemoryRetriever`, `StreamChatHistory` |
| `langgraph` | `StreamStore` |
| `llamaindex` | `MemoryRetriever` |
| `openai_agents` | `StreamSession` |

The adapters read the wall clock unless they are given a `clock`.
"""
