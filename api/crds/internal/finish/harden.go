package main

import "math"

const (
	// looseQuantity is the pattern that controller-gen gives quantities. It admits fractions as exponents.
	looseQuantity = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`
	// strictQuantity admits what Go can read.
	strictQuantity = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,3}))?$`
	// strictTime admits, of the date-times that an API server takes for valid, those that Go can read.
	strictTime = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`
)

// harden makes a schema refuse values that an API server would store but that no Go client could decode. One such
// object, which any user of a namespace could make, would keep clients from listing the objects of the whole cluster.
func harden(schema object) {
	switch {
	case schema["pattern"] == looseQuantity:
		schema["pattern"] = strictQuantity
	case schema["x-kubernetes-int-or-string"] == true && schema["pattern"] == nil:
		schema["minimum"], schema["maximum"] = math.MinInt32, math.MaxInt32
	case schema["format"] == "date-time":
		schema["pattern"] = strictTime
	}
	for _, inner := range schema.inner() {
		harden(inner)
	}
}
