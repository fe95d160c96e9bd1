"""What is counted when whole days of a town are read."""
