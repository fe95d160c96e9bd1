"""Workers in processes of their own, on this machine or on a cluster: Ray starts them and tells when one dies."""
