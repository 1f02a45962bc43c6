"""What an organization or a person defines: methodologies, custom types, styles, phase weights.

`actions` define and remove, `queries` read; both keep definitions in one table (`models`). Rules:
`phases` (methodologies, which phase a caller means, what counts there), `custom_type_rules` (the
mark of a custom type), `style` (which style fits a session).
"""
