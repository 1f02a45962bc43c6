; Elements of JSX are calls of the components that they name.

(jsx_opening_element name: (identifier) @calls (#match? @calls "^[A-Z]"))
(jsx_opening_element name: (member_expression property: (_) @last) @calls)
(jsx_self_closing_element name: (identifier) @calls (#match? @calls "^[A-Z]"))
(jsx_self_closing_element name: (member_expression property: (_) @last) @calls)
