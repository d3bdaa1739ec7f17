package constraint

import ()

// What a rule may be made of. The time to check the types of a rule grows with the square of its calls, and faster with lists in lists.
// The rules of catalogs have ten of these parts.
const (
	maxCalls = 1000
	maxLists = 100
)
