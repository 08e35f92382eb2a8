"""The paper reproduced from its released data, number by number."""
