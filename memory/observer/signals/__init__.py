"""The seventeen signals, in modules by what they read; `memory.observer.detect` lists them."""
