package configmapcatalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/packagemanifest"
)

// lists are the values of the older form, lists in YAML or JSON.
type lists struct{ crds, csvs, packages []byte }

func (l lists) empty() bool { return len(l.crds)+len(l.csvs)+len(l.packages) == 0 }

// operator is what matters here of a ClusterServiceVersion.
type operator struct {
	Metadata struct{ Name string }
	Spec     struct {
		Replaces                  string
		Skips                     []string
		CustomResourceDefinitions struct{ Owned []struct{ Name string } }
	}
}

// definition is what matters here of a CustomResourceDefinition.
type definition struct{ Metadata struct{ Name string } }

// layout lays the manifests out as directories, one for each package with all that its channels lead to, and one in it for each
// ClusterServiceVersion with the CustomResourceDefinitions that it owns. The names say where in the ConfigMap a manifest is.
func (l lists) layout() (map[string][]byte, error) {
	packages, err := items[packagemanifest.Manifest](keyPackages, l.packages)
	if err != nil {
		return nil, err
	}
	operators, err := named(keyCSVs, l.csvs, func(o operator) string { return o.Metadata.Name })
	if err != nil {
		return nil, err
	}
	definitions, err := named(keyCRDs, l.crds, func(d definition) string { return d.Metadata.Name })
	if err != nil {
		return nil, err
	}
	if len(packages) == 0 {
		return nil, fmt.Errorf("the key %s lists no package; without one nothing can be subscribed to", keyPackages)
	}
	files := map[string][]byte{}
	for _, p := range packages {
		files[p.place+"/package.yaml"] = p.text
		for _, name := range reached(p.value, operators) {
			o := operators[name]
			dir := p.place + "/" + o.place + "/"
			files[dir+"csv.json"] = o.text
			for _, owned := range o.value.Spec.CustomResourceDefinitions.Owned {
				if crd, ok := definitions[owned.Name]; ok {
					files[dir+crd.place+".json"] = crd.text
				}
			}
		}
	}
	return files, nil
}

// reached are the ClusterServiceVersions that the channels of a package lead to, sorted.
func reached(p packagemanifest.Manifest, operators map[string]item[operator]) []string {
	seen := map[string]bool{}
	var follow func(name string)
	follow = func(name string) {
		o, ok := operators[name]
		if !ok || seen[name] {
			return
		}
		seen[name] = true
		follow(o.value.Spec.Replaces)
		for _, skipped := range o.value.Spec.Skips {
			follow(skipped)
		}
	}
	for _, channel := range p.Channels {
		follow(channel.CurrentCSV)
	}
	return slices.Sorted(maps.Keys(seen))
}

// item is an element of a list: where it is, what is known of it, and all of it as JSON.
type item[T any] struct {
	place string // such as packages[0]
	value T
	text  []byte
}

// items reads a list.
func items[T any](key string, text []byte) ([]item[T], error) {
	asJSON, err := catalog.ToJSON(text)
	var raw []json.RawMessage
	if err == nil {
		err = json.Unmarshal(asJSON, &raw)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key %s, which holds a list in YAML or JSON: %w", key, err)
	}
	all := make([]item[T], len(raw))
	for i, one := range raw {
		all[i].place, all[i].text = fmt.Sprintf("%s[%d]", key, i), one
		if err := json.Unmarshal(one, &all[i].value); err != nil {
			return nil, fmt.Errorf("read element %d of the key %s: %w", i, key, err)
		}
	}
	return all, nil
}

// named reads a list of objects by their names.
func named[T any](key string, text []byte, name func(T) string) (map[string]item[T], error) {
	all, err := items[T](key, text)
	if err != nil {
		return nil, err
	}
	byName := map[string]item[T]{}
	for i, one := range all {
		n := name(one.value)
		_, twice := byName[n]
		switch {
		case n == "":
			err = errors.New("it has no metadata.name")
		case twice:
			err = fmt.Errorf("%s is listed before; keep one of the two", n)
		}
		if err != nil {
			return nil, fmt.Errorf("read element %d of the key %s: %w", i, key, err)
		}
		byName[n] = one
	}
	return byName, nil
}
