package catalog

import (
	"fmt"
	"io"
	"math"

	"fairlead.dev/fairlead/catalog/internal/compact"
	"fairlead.dev/fairlead/version"
)

// indexDecoder reads what indexEncoder has written, and believes none of it.
type indexDecoder struct {
	*compact.Decoder
	index   *Index
	objects []stored
	gvks    []GVK
	ranges  map[string]version.Range
	seen    map[bundleKey]bool
}

// decodeIndex makes the Index; the lines of its objects are between the header
// of the file and linesEnd.
func decodeIndex(from *compact.Decoder, file io.ReaderAt, linesEnd int64) (*Index, error) {
	d := &indexDecoder{Decoder: from, ranges: map[string]version.Range{}, seen: map[bundleKey]bool{}, index: &Index{
		packages: map[string]*PackageInfo{},
		bundles:  map[bundleKey]*BundleInfo{},
		v1:       onlyV1{packages: map[string]*PackageInfo{}, bundles: map[bundleKey]*BundleInfo{}},
		payloads: map[bundleKey][]Payload{},
	}}
	d.index.digest = d.Text()
	for range d.Count(9) {
		d.index.problems = append(d.index.problems, Problem{
			Severity: Severity(d.Text()),
			Rule:     Rule(d.Text()),
			Object:   Object{Schema: d.Text(), Package: d.Text(), Name: d.Text()},
			Position: Position{File: d.Text(), Line: d.Int(math.MaxInt)},
			Message:  d.Text(),
			Fix:      d.Text(),
		})
	}
	// Read where the lines of all objects are.
	d.objects = make([]stored, d.Count(7))
	d.index.objects = make([]indexed, len(d.objects))
	for i := range d.objects {
		s := &d.objects[i]
		d.index.objects[i] = indexed{Object{Schema: d.Text(), Package: d.Text(), Name: d.Text()}, s}
		*s = stored{file: file, offset: int64(d.Int(math.MaxInt)), packed: d.Int(maxLine), size: d.Int(maxLine), sum: uint32(d.Int(math.MaxUint32))}
		if s.offset < int64(headerSize) || s.offset > linesEnd-int64(s.packed) {
			d.Fail(fmt.Sprintf("the line of %s is not where the lines are", d.index.objects[i]))
		}
		if d.Err() != nil {
			break
		}
	}
	for range d.Count(7) {
		d.pkg()
	}
	if err := d.End(); err != nil {
		return nil, err
	}
	d.index.prepare()
	return d.index, nil
}

func (d *indexDecoder) pkg() {
	p := &PackageInfo{Name: d.Text(), DefaultChannel: d.Text(), Description: d.Text()}
	if d.Bool() {
		p.Icon = &Icon{Data: d.Value(), MediaType: d.Text()}
	}
	p.Deprecation = d.Text()
	bundles := make([]BundleInfo, d.Count(13))
	for i := range bundles {
		d.bundle(p.Name, &bundles[i])
		if d.Err() != nil {
			return
		}
	}
	var loose []*ChannelInfo
	for range d.Count(4) {
		isLoose := d.Bool()
		c := d.channel(p.Name, bundles)
		if isLoose {
			c.Head = ""
			loose = append(loose, c)
		} else {
			p.Channels = append(p.Channels, c)
		}
		if d.Err() != nil {
			return
		}
	}
	for range d.Count(3) {
		u := UnusableEntry{Name: d.Text()}
		for range d.Count(1) {
			u.Channels = append(u.Channels, d.Text())
		}
		if d.Bool() {
			v := d.version()
			u.Version = &v
		}
		p.Unusable = append(p.Unusable, u)
	}
	if _, ok := d.index.PackageV1(p.Name); ok {
		d.Fail(fmt.Sprintf("%s is there twice", Object{Schema: SchemaPackage, Name: p.Name}))
	}
	d.index.addPackage(p, loose)
}

func (d *indexDecoder) bundle(pkg string, b *BundleInfo) {
	b.Package, b.Name = pkg, d.Text()
	b.Version = d.version()
	b.VersionText, b.Image = d.Text(), d.Text()
	if n, isNil := d.Len(2); !isNil {
		b.Properties = make([]Property, n)
		for i := range b.Properties {
			b.Properties[i] = Property{Type: d.Text(), Value: d.Value()}
			if b.Properties[i].Type == PropertyConstraint {
				b.Constraints = append(b.Constraints, b.Properties[i].Value)
			}
		}
	}
	b.Provides, b.Requires = d.apis(), d.apis()
	if n, isNil := d.Len(2); !isNil {
		b.RequiredPackages = make([]PackageRequirement, n)
		for i := range b.RequiredPackages {
			b.RequiredPackages[i] = PackageRequirement{PackageName: d.Text(), Range: d.versionRange()}
		}
	}
	if n, isNil := d.Len(2); !isNil {
		b.RelatedImages = make([]RelatedImage, n)
		for i := range b.RelatedImages {
			b.RelatedImages[i] = RelatedImage{Name: d.Text(), Image: d.Text()}
		}
	}
	b.Deprecation, b.Deprecated = d.Text(), d.Bool()
	key := bundleKey{pkg, b.Name}
	if d.seen[key] {
		d.Fail(fmt.Sprintf("%s is there twice", Object{Schema: SchemaBundle, Package: pkg, Name: b.Name}))
	}
	d.seen[key] = true
	if payloads := d.payloads(); len(payloads) > 0 {
		d.index.payloads[key] = payloads
	}
}

func (d *indexDecoder) version() (v version.VersionRelease) {
	text, release := d.Text(), d.Text()
	if d.Err() != nil {
		return v
	}
	var err error
	if v.Version, err = version.Parse(text); err == nil {
		v.Release, err = version.ParseRelease(release)
	}
	if err != nil {
		d.Fail(err.Error())
	}
	return v
}

// versionRange reads a range; few of them are different.
func (d *indexDecoder) versionRange() version.Range {
	text := d.Text()
	known, ok := d.ranges[text]
	if text == "" || ok {
		return known
	}
	parsed, err := version.ParseRange(text)
	if err != nil {
		d.Fail(err.Error())
	}
	d.ranges[text] = parsed
	return parsed
}

func (d *indexDecoder) apis() []GVK {
	n, isNil := d.Len(1)
	if isNil {
		return nil
	}
	gvks := make([]GVK, n)
	for i := range gvks {
		number := d.Int(len(d.gvks))
		if number == len(d.gvks) {
			d.gvks = append(d.gvks, GVK{Group: d.Text(), Version: d.Text(), Kind: d.Text()})
		}
		gvks[i] = d.gvks[number]
	}
	return gvks
}

func (d *indexDecoder) payloads() []Payload {
	n := d.Count(5)
	if n == 0 {
		return nil
	}
	payloads := make([]Payload, n)
	for i := range payloads {
		p := &payloads[i]
		p.Type, p.Index = d.Text(), d.Int(math.MaxInt)
		object := d.Int(math.MaxInt)
		if object >= len(d.objects) {
			d.Fail(fmt.Sprintf("there is no object number %d", object))
			return nil
		}
		p.data.object = &d.objects[object]
		p.data.from = d.Int(p.data.object.size)
		p.data.size = d.Int(p.data.object.size - p.data.from)
	}
	return payloads
}

func (d *indexDecoder) channel(pkg string, bundles []BundleInfo) *ChannelInfo {
	c := &ChannelInfo{Package: pkg, Name: d.Text(), Deprecation: d.Text()}
	entries := make([]EntryInfo, d.Count(6))
	for i := range entries {
		number := d.Int(math.MaxInt)
		if number >= len(bundles) {
			d.Fail(fmt.Sprintf("there is no bundle number %d", number))
			return c
		}
		e := &entries[i]
		b := &bundles[number]
		e.Bundle, e.Name, e.Replaces = b, b.Name, d.Text()
		if n, isNil := d.Len(1); !isNil {
			e.Skips = make([]string, n)
			for i := range e.Skips {
				e.Skips[i] = d.Text()
			}
		}
		e.SkipRange = d.versionRange()
		e.InChain, e.Skipped = d.Bool(), d.Bool()
		c.Entries = append(c.Entries, &entries[i])
	}
	if len(entries) == 0 {
		d.Fail("a channel has no entries")
		return c
	}
	c.Head = entries[0].Name
	for range d.Count(2) {
		c.Missing = append(c.Missing, MissingEntry{d.Text(), d.Int(len(entries))})
	}
	return c
}
