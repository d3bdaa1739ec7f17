package catalog

import (
	"fairlead.dev/fairlead/catalog/internal/compact"
)

// indexEncoder writes an Index whose objects are all stored. indexDecoder reads
// the same in the same order.
type indexEncoder struct {
	compact.Encoder
	lines map[*stored]int // numbers of objects, in canonical order
	gvks  map[GVK]int
}

func encodeIndex(x *Index) compact.Sections {
	e := &indexEncoder{lines: map[*stored]int{}, gvks: map[GVK]int{}}
	// The bytes of the long texts, and of all values, of packages and bundles: most of what is written, if it is much.
	texts, values := 0, 0
	for _, name := range x.v1.names {
		p, _ := x.PackageV1(name)
		texts += len(p.Description)
		if p.Icon != nil {
			values += len(p.Icon.Data)
		}
	}
	for _, bundles := range []map[bundleKey]*BundleInfo{x.bundles, x.v1.bundles} {
		for _, b := range bundles {
			for i := range b.Properties {
				values += len(b.Properties[i].Value)
			}
			for _, image := range b.RelatedImages {
				texts += len(image.Name) + len(image.Image)
			}
		}
	}
	e.Reserve(texts, values)
	e.Text(x.digest)
	e.Int(len(x.problems))
	for _, p := range x.problems {
		e.Text(string(p.Severity))
		e.Text(string(p.Rule))
		e.Text(p.Object.Schema)
		e.Text(p.Object.Package)
		e.Text(p.Object.Name)
		e.Text(p.Position.File)
		e.Int(p.Position.Line)
		e.Text(p.Message)
		e.Text(p.Fix)
	}
	e.Int(len(x.objects))
	for i, o := range x.objects {
		s := o.source.(*stored)
		e.lines[s] = i
		e.Text(o.Schema)
		e.Text(o.Package)
		e.Text(o.Name)
		e.Uint(uint64(s.offset))
		e.Int(s.packed)
		e.Int(s.size)
		e.Uint(uint64(s.sum))
	}
	e.Int(len(x.v1.names))
	for _, name := range x.v1.names {
		p, _ := x.PackageV1(name)
		e.pkg(x, p)
	}
	return e.Sections()
}

func (e *indexEncoder) pkg(x *Index, p *PackageInfo) {
	e.Text(p.Name)
	e.Text(p.DefaultChannel)
	e.Text(p.Description)
	e.Bool(p.Icon != nil)
	if p.Icon != nil {
		e.Value(p.Icon.Data)
		e.Text(p.Icon.MediaType)
	}
	e.Text(p.Deprecation)
	// Those of the package, in the order its channels first name them.
	var bundles []*BundleInfo
	seen := map[*BundleInfo]bool{}
	for _, c := range p.Channels {
		for _, e := range c.Entries {
			if !seen[e.Bundle] {
				seen[e.Bundle] = true
				bundles = append(bundles, e.Bundle)
			}
		}
	}
	numbers := make(map[*BundleInfo]int, len(bundles))
	e.Int(len(bundles))
	for i, b := range bundles {
		numbers[b] = i
		e.bundle(b, x.payloads[bundleKey{b.Package, b.Name}])
	}
	e.Int(len(p.Channels))
	for _, c := range p.Channels {
		e.Bool(c.Head == "")
		e.Text(c.Name)
		e.Text(c.Deprecation)
		e.Int(len(c.Entries))
		for _, entry := range c.Entries {
			e.Int(numbers[entry.Bundle])
			e.Text(entry.Replaces)
			e.Len(len(entry.Skips), entry.Skips == nil)
			for _, skip := range entry.Skips {
				e.Text(skip)
			}
			e.Text(entry.SkipRange.String())
			e.Bool(entry.InChain)
			e.Bool(entry.Skipped)
		}
		e.Int(len(c.Missing))
		for _, missing := range c.Missing {
			e.Text(missing.Name)
			e.Int(missing.Place)
		}
	}
	e.Int(len(p.Unusable))
	for _, u := range p.Unusable {
		e.Text(u.Name)
		e.Int(len(u.Channels))
		for _, name := range u.Channels {
			e.Text(name)
		}
		e.Bool(u.Version != nil)
		if u.Version != nil {
			e.Text(u.Version.Version.String())
			e.Text(u.Version.Release.String())
		}
	}
}

func (e *indexEncoder) bundle(b *BundleInfo, payloads []Payload) {
	e.Text(b.Name)
	e.Text(b.Version.Version.String())
	e.Text(b.Version.Release.String())
	e.Text(b.VersionText)
	e.Text(b.Image)
	// Write them, and the constraints, which are some of their values
	e.Len(len(b.Properties), b.Properties == nil)
	for _, p := range b.Properties {
		e.Text(p.Type)
		e.Value(p.Value)
	}
	e.apis(b.Provides)
	e.apis(b.Requires)
	e.Len(len(b.RequiredPackages), b.RequiredPackages == nil)
	for _, r := range b.RequiredPackages {
		e.Text(r.PackageName)
		e.Text(r.Range.String())
	}
	e.Len(len(b.RelatedImages), b.RelatedImages == nil)
	for _, r := range b.RelatedImages {
		e.Text(r.Name)
		e.Text(r.Image)
	}
	e.Text(b.Deprecation)
	e.Bool(b.Deprecated)
	e.Int(len(payloads))
	for _, p := range payloads {
		e.Text(p.Type)
		e.Int(p.Index)
		e.Int(e.lines[p.data.object])
		e.Int(p.data.from)
		e.Int(p.data.size)
	}
}

// apis writes APIs, of which each different one is spelt out once.
func (e *indexEncoder) apis(gvks []GVK) {
	e.Len(len(gvks), gvks == nil)
	for _, gvk := range gvks {
		number, known := e.gvks[gvk]
		if !known {
			number = len(e.gvks)
			e.gvks[gvk] = number
		}
		e.Int(number)
		if !known {
			e.Text(gvk.Group)
			e.Text(gvk.Version)
			e.Text(gvk.Kind)
		}
	}
}
