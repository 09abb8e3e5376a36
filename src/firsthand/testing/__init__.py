"""What tests of Firsthand, and of programs built on it, stand on. Nothing of the product imports this."""
