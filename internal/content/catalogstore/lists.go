package catalogstore

import (
	"encoding/json"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/bundle/packagemanifest"
	"fairlead.dev/fairlead/catalog"
)

// lists are the values of the older form, lists in YAML or JSON.
type lists struct{ crds, csvs, packages []byte }

// operator is what matters here of a ClusterServiceVersion.
type operator struct {
	Metadata struct{ Name string }
	Spec     struct {
		Replaces                  string
		Skips                     []string
		CustomResourceDefinitions struct{ Owned []owned }
	}
}

// owned is a version of a CustomResourceDefinition that an operator provides.
type owned struct{ Name, Version string }

// content is what the lists hold. What cannot be used is left out, and warned of: the rest is served.
type content struct {
	packages    []listed
	operators   map[string]item[operator]
	definitions definitions
	unread      map[string]string // where ClusterServiceVersions are that cannot be read, by name
	warnings    []string
	problems    catalog.Problems
}

// warn says what was left out or taken in another way than it is written, and where that is.
func (c *content) warn(place, format string, args ...any) {
	c.warnings = append(c.warnings, place+": "+fmt.Sprintf(format, args...))
}

// leaveOut says why a package, or a part of one, is left out, what to do about it, and notes it as a problem, too.
func (c *content) leaveOut(place, subject string, o catalog.Object, why, fix string) {
	p := catalog.Problem{Severity: catalog.Error, Rule: RuleLeftOut, Object: o, Position: catalog.Position{File: place}, Message: "it is left out" + why, Fix: fix}
	c.problems = append(c.problems, p)
	if fix != "" {
		fix = "; " + fix
	}
	c.warn(place, "%s is left out%s%s", subject, why, fix)
}

func packageObject(name string) catalog.Object {
	return catalog.Object{Schema: catalog.SchemaPackage, Name: name}
}

// read reads the lists. Its error is that of a key that holds no list at all.
func (l lists) read() (*content, error) {
	c := &content{operators: map[string]item[operator]{}, definitions: definitions{}, unread: map[string]string{}}
	// What cannot be read is noted, as far as its name can be.
	packages, err := items(c, keyPackages, l.packages, func(p item[packagemanifest.Package], err error) {
		if name := p.value.PackageName; name != "" {
			c.problems = append(c.problems, catalog.Problem{Severity: catalog.Error, Rule: RuleLeftOut, Object: packageObject(name),
				Position: catalog.Position{File: p.place}, Message: "it cannot be read and is left out: " + err.Error(), Fix: "correct it"})
		}
	})
	if err != nil {
		return nil, err
	}
	operators, err := items(c, keyCSVs, l.csvs, func(o item[operator], err error) {
		if name := o.value.Metadata.Name; name != "" { // it may be the head of a channel
			c.unread[name] = fmt.Sprintf("%s cannot be read: %v", o.place, err)
		}
	})
	if err != nil {
		return nil, err
	}
	crds, err := items(c, keyCRDs, l.crds, func(item[definition], error) {})
	if err != nil {
		return nil, err
	}
	for _, o := range operators {
		name := o.value.Metadata.Name
		first, twice := c.operators[name]
		switch {
		case name == "":
			c.warn(o.place, "it has no metadata.name and is left out; name it")
		case !twice:
			c.operators[name] = o
		case string(first.text) != string(o.text):
			c.warn(o.place, "%s is listed before, at %s, and that one is served; keep one of the two", name, first.place)
		}
	}
	for _, d := range crds {
		c.addDefinition(d)
	}
	// Put together what is listed of each package, and corrects what stands in the way of serving it.
	at := map[string]int{}
	for _, p := range packages {
		name := p.value.PackageName
		if name == "" {
			c.warn(p.place, "it has no packageName and is left out; name the package")
			continue
		}
		i, again := at[name]
		if !again {
			i = len(c.packages)
			at[name] = i
			c.packages = append(c.packages, listed{place: p.place, Package: packagemanifest.Package{PackageName: name}})
		} else {
			c.warn(p.place, "package %s is listed before, at %s, and the channels of both are served; put them into one", name, c.packages[i].place)
		}
		c.addChannels(&c.packages[i], p)
	}
	for i := range c.packages {
		c.settleDefault(&c.packages[i])
	}
	c.packages = slices.DeleteFunc(c.packages, func(p listed) bool { return len(p.Channels) == 0 })
	return c, nil
}

// item is an element of a list: where it is, what is known of it, and all of it as JSON.
type item[T any] struct {
	place string // such as packages[0]
	value T
	text  []byte
}

// items reads a list, and leaves out what is no object of the right form: of that it calls lost with what could be read.
func items[T any](c *content, key string, text []byte, lost func(item[T], error)) ([]item[T], error) {
	asJSON, err := catalog.ToJSON(text)
	var raw []json.RawMessage
	if err == nil {
		err = json.Unmarshal(asJSON, &raw)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key %s, which holds a list in YAML or JSON: %w", key, err)
	}
	var all []item[T]
	for i, one := range raw {
		read := item[T]{place: fmt.Sprintf("%s[%d]", key, i), text: one}
		if err := json.Unmarshal(one, &read.value); err != nil {
			c.warn(read.place, "it cannot be read and is left out; correct it: %v", err)
			lost(read, err)
			continue
		}
		all = append(all, read)
	}
	return all, nil
}
