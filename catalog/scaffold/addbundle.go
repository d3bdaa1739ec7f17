package scaffold

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// Addition is a version that is to come into a catalog.
type Addition struct {
	Bundle   catalog.Bundle
	Channels []string // at least one
	// Replaces is what it upgrades from in each of the channels; nil is their head. Empty text is nothing.
	Replaces  *string
	Skips     []string
	SkipRange string
}

// File is a file of a catalog as it is to be, by its path below the directory of the catalog.
type File struct {
	Name    string
	Content []byte
	New     bool
}

// AddBundle returns the files of a catalog that change when a version comes into it: the channels get an entry, where they stand in YAML or JSON, and the
// bundle a file of its own beside its package; one that is there comes into more channels. A package or a channel that is not there is made. Comments stay. read returns the content of a file of
// the catalog, and c is what the catalog is now: it changes to what it is to be. A catalog that would break rules which it keeps now is an error.
func AddBundle(c *catalog.Catalog, read func(name string) ([]byte, error), a Addition) ([]File, error) {
	before := catalog.Validate(c)
	e := &addition{Addition: a, catalog: c, read: read}
	if err := e.add(); err != nil {
		return nil, fmt.Errorf("add bundle %s to package %s: %w", safetext.Quote(a.Bundle.Name), safetext.Quote(a.Bundle.Package), err)
	}
	if broken := newErrors(before, catalog.Validate(c)); broken != nil {
		return nil, fmt.Errorf("add bundle %s to package %s: the catalog would break rules: %w", safetext.Quote(a.Bundle.Name), safetext.Quote(a.Bundle.Package), broken)
	}
	return e.files, nil
}

// newErrors are the errors that were not there before, wherever they stand.
func newErrors(before, after catalog.Problems) error {
	var found []error
	for _, p := range after {
		same := func(was catalog.Problem) bool {
			return was.Rule == p.Rule && was.Object == p.Object && was.Message == p.Message
		}
		if p.Severity == catalog.Error && !slices.ContainsFunc(before, same) {
			p.Position = catalog.Position{} // places have moved
			found = append(found, errors.New(p.String()))
		}
	}
	return errors.Join(found...)
}

// addition adds a version.
type addition struct {
	Addition
	catalog *catalog.Catalog
	read    func(name string) ([]byte, error)
	files   []File
}

// fileName is what the name of a bundle or channel must look like to be that of a file.
var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)

func (e *addition) add() error {
	b := &e.Bundle
	if len(e.Channels) == 0 {
		return errors.New("no channel is named")
	}
	for _, name := range append([]string{b.Name, b.Package}, e.Channels...) {
		if !fileName.MatchString(name) {
			return fmt.Errorf("%s cannot be the name of a file", safetext.Quote(name))
		}
	}
	there, err := e.there()
	if err != nil {
		return err
	}
	dir, err := e.pkg()
	if err != nil {
		return err
	}
	for _, name := range e.Channels {
		if err := e.channel(dir, name); err != nil {
			return err
		}
	}
	if there {
		return nil
	}
	e.catalog.Bundles = append(e.catalog.Bundles, *b)
	return e.create(path.Join(dir, b.Name+".yaml"), &catalog.Catalog{Bundles: []catalog.Bundle{*b}})
}

// there reports whether the catalog has the bundle, which then comes into channels that do not have it yet. Another one of its name, and a channel
// that has it, are errors.
func (e *addition) there() (bool, error) {
	at := slices.IndexFunc(e.catalog.Bundles, func(b catalog.Bundle) bool { return b.Package == e.Bundle.Package && b.Name == e.Bundle.Name })
	if at < 0 {
		return false, nil
	}
	is := &e.catalog.Bundles[at]
	if is.Image != e.Bundle.Image {
		return false, fmt.Errorf("it is there already, at %s, with image %s rather than %s: give the version another number, or change the image there", is.Position, safetext.Quote(is.Image), safetext.Quote(e.Bundle.Image))
	}
	for _, c := range e.catalog.Channels {
		has := c.Package == e.Bundle.Package && slices.ContainsFunc(c.Entries, func(entry catalog.Entry) bool { return entry.Name == e.Bundle.Name })
		if has && slices.Contains(e.Channels, c.Name) {
			return false, fmt.Errorf("it is there already, at %s, and in channel %s: name channels that do not have it", is.Position, safetext.Quote(c.Name))
		}
	}
	return true, nil
}

// pkg is the directory of the package, which is made where it is not there.
func (e *addition) pkg() (dir string, err error) {
	for i := range e.catalog.Packages {
		if p := &e.catalog.Packages[i]; p.Name == e.Bundle.Package {
			return path.Dir(p.Position.File), nil
		}
	}
	p := catalog.Package{Schema: catalog.SchemaPackage, Name: e.Bundle.Package, DefaultChannel: e.Channels[0]}
	e.catalog.Packages = append(e.catalog.Packages, p)
	dir = e.Bundle.Package
	return dir, e.create(path.Join(dir, "package.yaml"), &catalog.Catalog{Packages: []catalog.Package{p}})
}

// create adds a file.
func (e *addition) create(name string, content *catalog.Catalog) error {
	var text bytes.Buffer
	if err := catalog.WriteYAML(&text, content); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	e.files = append(e.files, File{name, text.Bytes(), true})
	return nil
}

// channel gives a channel the entry.
func (e *addition) channel(dir, name string) error {
	entry := catalog.Entry{Name: e.Bundle.Name, Skips: e.Skips, SkipRange: e.SkipRange}
	if e.Replaces != nil {
		entry.Replaces = *e.Replaces
	}
	for i := range e.catalog.Channels {
		c := &e.catalog.Channels[i]
		if c.Package != e.Bundle.Package || c.Name != name {
			continue
		}
		if e.Replaces == nil {
			head, err := headOf(c)
			if err == nil {
				err = e.follows(c, head)
			}
			if err != nil {
				return err
			}
			entry.Replaces = head
		}
		c.Entries = append(c.Entries, entry)
		return e.edit(c, entry)
	}
	c := catalog.Channel{Schema: catalog.SchemaChannel, Package: e.Bundle.Package, Name: name, Entries: []catalog.Entry{entry}}
	e.catalog.Channels = append(e.catalog.Channels, c)
	return e.create(path.Join(dir, "channel-"+name+".yaml"), &catalog.Catalog{Channels: []catalog.Channel{c}})
}

// follows is an error where the head of a channel is newer than the version: to replace it would be the way back.
func (e *addition) follows(c *catalog.Channel, head string) error {
	at := slices.IndexFunc(e.catalog.Bundles, func(b catalog.Bundle) bool { return b.Package == c.Package && b.Name == head })
	if at < 0 {
		return nil
	}
	from, err := e.catalog.Bundles[at].VersionRelease()
	if err != nil {
		return nil // which validating the catalog reports
	}
	to, err := e.Bundle.VersionRelease()
	if err != nil || !catalog.IsBack(from, to) {
		return nil
	}
	return fmt.Errorf("the head of channel %s, %s, is newer, so it is not clear what the version replaces: say it", safetext.Quote(c.Name), safetext.Quote(head))
}

// headOf is the entry of a channel that nothing upgrades from.
func headOf(c *catalog.Channel) (string, error) {
	var heads []string
	for _, e := range c.Entries {
		if !slices.ContainsFunc(c.Entries, func(o catalog.Entry) bool { return o.Replaces == e.Name || slices.Contains(o.Skips, e.Name) }) {
			heads = append(heads, e.Name)
		}
	}
	if len(heads) != 1 {
		return "", fmt.Errorf("channel %s has %d heads (%s), so it is not clear what the version replaces: say it", safetext.Quote(c.Name), len(heads), safetext.QuoteList(heads))
	}
	return heads[0], nil
}

// edit writes the entry into the file of the channel.
func (e *addition) edit(c *catalog.Channel, entry catalog.Entry) error {
	name := c.Position.File
	at := slices.IndexFunc(e.files, func(f File) bool { return f.Name == name })
	var text []byte
	if at >= 0 {
		text = e.files[at].Content
	} else {
		var err error
		if text, err = e.read(name); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
	change := inYAML
	if strings.HasPrefix(strings.TrimSpace(string(text)), "{") {
		change = inJSON
	}
	text, err := change(text, c, entry)
	if err != nil {
		return fmt.Errorf("write the entry into channel %s in %s: %w", safetext.Quote(c.Name), name, err)
	}
	if at >= 0 {
		e.files[at].Content = text
		return nil
	}
	e.files = append(e.files, File{name, text, false})
	return nil
}

// errNotFound is that a channel is not where it was read.
var errNotFound = errors.New("the channel is not there any more; read the catalog again")

// separator begins a document.
var separator = regexp.MustCompile(`(?m)^---.*\n?`)

// inYAML adds an entry to the document of a channel, and leaves the others as they are.
func inYAML(text []byte, c *catalog.Channel, entry catalog.Entry) ([]byte, error) {
	begins := []int{0}
	for _, m := range separator.FindAllIndex(text, -1) {
		begins = append(begins, m[1])
	}
	for i, begin := range begins {
		end := len(text)
		if i+1 < len(begins) {
			end = begin + len(separator.Split(string(text[begin:]), 2)[0])
		}
		var document yaml.Node
		if err := yaml.Unmarshal(text[begin:end], &document); err != nil {
			return nil, err
		}
		if len(document.Content) == 0 || !isChannel(document.Content[0], c) {
			continue
		}
		entries := member(document.Content[0], "entries")
		if entries == nil || entries.Kind != yaml.SequenceNode {
			return nil, errNotFound
		}
		var added yaml.Node
		if err := added.Encode(writtenEntry(entry)); err != nil {
			return nil, err
		}
		added.Style = entries.Style & yaml.FlowStyle
		if n := len(entries.Content); n > 0 {
			added.Style = entries.Content[n-1].Style
		}
		entries.Content = append(entries.Content, &added)
		var out bytes.Buffer
		encoder := yaml.NewEncoder(&out)
		encoder.SetIndent(2)
		if err := errors.Join(encoder.Encode(&document), encoder.Close()); err != nil {
			return nil, err
		}
		return slices.Concat(text[:begin], out.Bytes(), text[end:]), nil
	}
	return nil, errNotFound
}

// member is the value of a key of a mapping, nil when there is none.
func member(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if strings.EqualFold(mapping.Content[i].Value, key) {
			return mapping.Content[i+1]
		}
	}
	return nil
}

func isChannel(document *yaml.Node, c *catalog.Channel) bool {
	is := func(key, value string) bool {
		n := member(document, key)
		return n != nil && n.Value == value
	}
	return document.Kind == yaml.MappingNode && is("schema", catalog.SchemaChannel) && is("package", c.Package) && is("name", c.Name)
}

// writtenEntry is an entry with its fields in order.
func writtenEntry(e catalog.Entry) any {
	return struct {
		Name      string   `yaml:"name"`
		Replaces  string   `yaml:"replaces,omitempty"`
		Skips     []string `yaml:"skips,omitempty,flow"`
		SkipRange string   `yaml:"skipRange,omitempty"`
	}{e.Name, e.Replaces, e.Skips, e.SkipRange}
}

// inJSON adds an entry to the object of a channel, which follows others in the text, and leaves these as they are.
func inJSON(text []byte, c *catalog.Channel, entry catalog.Entry) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	for decoder.More() {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return nil, err
		}
		var is struct{ Schema, Package, Name string }
		if json.Unmarshal(raw, &is) != nil || is.Schema != catalog.SchemaChannel || is.Package != c.Package || is.Name != c.Name {
			continue
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			return nil, err
		}
		var entries []json.RawMessage
		if err := json.Unmarshal(object["entries"], &entries); err != nil {
			return nil, err
		}
		added, err := json.Marshal(entry)
		if err != nil {
			return nil, err
		}
		if object["entries"], err = json.Marshal(append(entries, added)); err != nil {
			return nil, err
		}
		written, err := json.MarshalIndent(object, "", "  ")
		if err != nil {
			return nil, err
		}
		end := int(decoder.InputOffset())
		return slices.Concat(text[:end-len(raw)], written, text[end:]), nil
	}
	return nil, errNotFound
}
