package template

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/internal/rawjson"
)

// archetypes are the grades of channels that a semver template knows, from the
// least to the most stable.
var archetypes = []string{"candidate", "fast", "stable"}

// A stream is a kind of channel: one for a major version or one for a minor.
const (
	major = "major"
	minor = "minor"
)

// semverTemplate is what a semver template says.
type semverTemplate struct {
	*document
	majorChannels, minorChannels bool
	preference                   string
	images                       [][]reference // by archetype
}

// semver makes the channels of a package from the versions of its bundles.
func (d *document) semver(ctx context.Context, o Options) (*catalog.Catalog, error) {
	t := &semverTemplate{document: d}
	if err := t.parse(); err != nil {
		return nil, err
	}
	var all []reference
	for _, images := range t.images {
		all = append(all, images...)
	}
	if len(all) == 0 {
		return nil, d.fail(d.line, "render: no bundles specified or no bundles could be rendered; list images below candidate, fast or stable")
	}
	bundles, err := d.fetch(ctx, all, o)
	if err != nil {
		return nil, err
	}
	ladders, pkg, err := t.ladders(bundles)
	if err != nil {
		return nil, err
	}
	return d.assemble(pkg, t.channels(ladders), all, bundles), nil
}

// parse reads the template and applies the defaults. Fields that do not exist are errors: a misspelt flag would silently
// give other channels.
func (t *semverTemplate) parse() error {
	t.images = make([][]reference, len(archetypes))
	flags := map[string]*bool{"generatemajorchannels": &t.majorChannels, "generateminorchannels": &t.minorChannels}
	c := &cursor{d: t.document, line: t.line, rest: t.text}
	for _, f := range t.fields {
		line := c.find(f.key)
		var err error
		switch key := strings.ToLower(f.key); key {
		case "schema":
		case "generatemajorchannels", "generateminorchannels":
			if kind := rawjson.Kind(f.value); kind != "boolean" && kind != "null" {
				return t.fail(line, "%s is %s, not a boolean; write true or false", f.key, article(kind))
			}
			*flags[key] = string(f.value) == "true"
		case "defaultchanneltypepreference":
			err = t.setPreference(f, line)
		case "candidate", "fast", "stable":
			t.images[slices.Index(archetypes, key)], err = t.archetype(f, c)
		default:
			err = t.unknown(line, f.key, "schema, generateMajorChannels, generateMinorChannels, defaultChannelTypePreference, candidate, fast and stable")
		}
		if err != nil {
			return err
		}
	}
	if !t.majorChannels && !t.minorChannels {
		t.minorChannels = true
	}
	if t.preference == "" {
		if t.preference = major; t.minorChannels {
			t.preference = minor
		}
	}
	if t.preference == minor && !t.minorChannels || t.preference == major && !t.majorChannels {
		return t.fail(t.keyLine("defaultChannelTypePreference"),
			"schema attribute mismatch: DefaultChannelTypePreference set to '%s' doesn't make sense if not generating %s-version channels", t.preference, t.preference)
	}
	return nil
}

func (d *document) unknown(line int, key, known string) error {
	return d.fail(line, "unknown field %.100q; there are %s", key, known)
}

func (t *semverTemplate) setPreference(f field, line int) error {
	if err := t.mustBe(f.key, "string", f.value, line); err != nil {
		return err
	}
	switch text := rawjson.String(f.value); text {
	case "", major, minor:
		t.preference = text
		return nil
	default:
		return t.fail(line, "unknown DefaultChannelTypePreference: %.100q; choose %s or %s", text, minor, major)
	}
}

// archetype reads the images below candidate, fast or stable.
func (t *semverTemplate) archetype(f field, c *cursor) ([]reference, error) {
	if err := t.mustBe(f.key, "object", f.value, c.line); err != nil {
		return nil, err
	}
	var images []reference
	for key, list := range rawjson.Members(f.value) {
		line := c.find(key)
		if !strings.EqualFold(key, "bundles") {
			return nil, t.unknown(line, f.key+"."+key, f.key+".bundles")
		}
		if err := t.mustBe(f.key+"."+key, "list", list, line); err != nil {
			return nil, err
		}
		for item := range rawjson.Elements(list) {
			image, err := t.imageOf(f.key+"."+key, item, c)
			if err != nil {
				return nil, err
			}
			if images = append(images, image); len(images) > maxItems {
				return nil, t.fail(image.line, "more than %d images; split the template", maxItems)
			}
		}
	}
	return images, nil
}

// imageOf reads {image: …}.
func (t *semverTemplate) imageOf(where string, item []byte, c *cursor) (reference, error) {
	r := reference{line: c.line}
	if err := t.mustBe("an item of "+where, "object", item, r.line); err != nil {
		return r, err
	}
	for key, value := range rawjson.Members(item) {
		if !strings.EqualFold(key, "image") {
			return r, t.unknown(c.find(key), where+"[]."+key, "image")
		}
		r.image = rawjson.String(value)
		if r.line = c.find(r.image); r.image != "" {
			// Move behind a text on the line that find has found
			if i := bytes.Index(c.rest, []byte(r.image)); i >= 0 {
				c.line += bytes.Count(c.rest[:i+len(r.image)], []byte("\n"))
				c.rest = c.rest[i+len(r.image):]
			}
		}
	}
	if r.image == "" {
		return r, t.fail(r.line, "an item of %s names no image; write image: REFERENCE", where)
	}
	return r, nil
}

func (d *document) mustBe(what, kind string, value []byte, line int) error {
	if found := rawjson.Kind(value); found != kind && found != "null" {
		return d.fail(line, "%s is %s, not %s", what, article(found), article(kind))
	}
	return nil
}
