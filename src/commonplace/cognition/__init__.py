"""What one character does in one tick: perceive, remember, retrieve, plan, react, act, reflect."""
