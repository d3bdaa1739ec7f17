// Package rawjson looks into JSON text without building values from it.
//
// A catalog is mostly text that is passed on unchanged. [Check] reads a text
// once and bounds its depth; [Members] and [Elements] then hand out the parts
// as they stand, and [AppendCanonical] rewrites them. None
// of them allocates in proportion to its input, apart from what it appends.
//
// Everything but Check trusts that Check has accepted the text; on other input
// they return nonsense, but neither panic nor run for ever. Start reading at
// check.go.
package rawjson
