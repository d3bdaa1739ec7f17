package catalog

// AppendObject appends an object of a catalog (a *Package, *Channel, *Bundle,
// *Deprecations or *Meta) as compact JSON with sorted keys: equal objects give
// equal text.
func AppendObject(dst []byte, object any) ([]byte, error) {
	e := encoder{out: dst, sorted: true}
	if err := e.encode(object); err != nil {
		return nil, err
	}
	return e.out, nil
}
