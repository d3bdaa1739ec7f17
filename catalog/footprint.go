package catalog

// What an object takes in memory beside its own bytes, measured on catalogs
// that are made of little else: the structures it is loaded into, those of the
// Index, and its share of the file's directory. It is rather too much than too
// little. The bytes of texts and values count copies times: as loaded, and as
// they are written and opened again.
const (
	copies       = 2
	objectCost   = 600 // any object
	entryCost    = 400 // an entry of a channel
	propertyCost = 160 // a property that is not a payload
	apiCost      = 320 // more, if it is read as an API, a package or a constraint
	stringCost   = 40  // one string of a list
)

// Footprint is about how much memory it takes to load and index an object: a
// *Package, *Channel, *Bundle, *Deprecations or *Meta. Limits.MemoryBytes
// bounds the sum of it, so that who reads a catalog piece by piece can stop
// as soon.
//
// The bytes of payloads are not kept and do not count.
func Footprint(object any) int64 {
	n := int64(objectCost)
	switch o := object.(type) {
	case *Package:
		n += size(o.Name, o.DefaultChannel, o.Description) + properties(o.Properties)
		if o.Icon != nil {
			n += copies*int64(len(o.Icon.Data)) + size(o.Icon.MediaType)
		}
	case *Channel:
		n += size(o.Name, o.Package) + properties(o.Properties)
		for i := range o.Entries {
			e := &o.Entries[i]
			n += entryCost + size(e.Name, e.Replaces, e.SkipRange) + size(e.Skips...)
		}
	case *Bundle:
		n += objectCost + size(o.Name, o.Package, o.Image) + properties(o.Properties)
		for _, image := range o.RelatedImages {
			n += size(image.Name, image.Image)
		}
		for i := range o.Payloads {
			n += propertyCost + size(o.Payloads[i].csv)
			for _, api := range o.Payloads[i].requires {
				n += apiCost + size(api.Group, api.Version, api.Kind)
			}
		}
	case *Deprecations:
		n += size(o.Package)
		for _, e := range o.Entries {
			n += entryCost + size(e.Reference.Name, e.Message)
		}
	case *Meta:
		n += size(o.Package, o.Name, o.Schema) + copies*int64(len(o.Blob))
	}
	return n
}

func properties(all []Property) int64 {
	var n int64
	for i := range all {
		p := &all[i]
		n += propertyCost + size(p.Type) + copies*int64(len(p.Value))
		switch p.Type {
		case PropertyPackage, PropertyGVK, PropertyGVKRequired, PropertyPackageRequired, PropertyConstraint:
			n += apiCost + int64(len(p.Value))
		}
	}
	return n
}

func size(texts ...string) int64 {
	n := int64(stringCost) * int64(len(texts))
	for _, text := range texts {
		n += copies * int64(len(text))
	}
	return n
}
