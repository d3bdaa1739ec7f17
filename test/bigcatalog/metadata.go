package bigcatalog

import (
	"encoding/json"
	"fmt"
	"strings"
)

// metadata is the value of an olm.csv.metadata. Its texts take most of the bytes that a bundle is to have, spread as in real ones:
// descriptions of many lines, examples that are JSON in a string, and many short descriptors.
func (m *maker) metadata(i, apis int) any {
	var owned []any
	for n := range apis {
		var descriptors []any
		for d := range m.bytes / apis / 2 / 250 {
			descriptors = append(descriptors, map[string]any{
				"path": fmt.Sprintf("field%d", d), "displayName": m.text(20), "description": m.text(120),
				"x-descriptors": []string{"urn:alm:descriptor:com.tectonic.ui:text"},
			})
		}
		api := m.api(n)
		owned = append(owned, map[string]any{
			"name": strings.ToLower(api.Kind) + "s." + api.Group, "kind": api.Kind, "version": api.Version,
			"displayName": m.text(20), "description": m.text(60), "specDescriptors": descriptors,
		})
	}
	// A list of objects as indented JSON.
	size := m.bytes / 6
	var all []any
	for n := range apis {
		spec := map[string]any{}
		for f := range size / apis / 60 {
			spec[fmt.Sprintf("field%d", f)] = m.text(30)
		}
		api := m.api(n)
		all = append(all, map[string]any{"apiVersion": api.Group + "/" + api.Version, "kind": api.Kind, "metadata": map[string]string{"name": "example"}, "spec": spec})
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("bigcatalog: an example made here cannot be written: %v", err))
	}
	return map[string]any{
		"annotations": map[string]string{
			"alm-examples": string(text), "capabilities": "Full Lifecycle", "categories": "Database",
			"createdAt": fmt.Sprintf("2024-01-%02dT00:00:00Z", 1+i%28), "repository": "https://example.com/" + m.name,
		},
		"apiServiceDefinitions": map[string]any{},
		"crdDescriptions":       map[string]any{"owned": owned},
		"description":           m.lines(m.bytes / 5),
		"displayName":           m.name,
		"installModes":          []any{map[string]any{"type": "AllNamespaces", "supported": true}, map[string]any{"type": "OwnNamespace", "supported": false}},
		"keywords":              strings.Fields(m.text(40)),
		"links":                 []any{map[string]string{"name": "Source", "url": "https://example.com/" + m.name}},
		"maintainers":           []any{map[string]string{"name": m.text(12), "email": "maintainers@example.com"}},
		"maturity":              "stable",
		"minKubeVersion":        "1.25.0",
		"provider":              map[string]string{"name": "Example", "url": "https://example.com"},
	}
}

var syllables = strings.Fields("ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu an el in or us tra ple con sti mon")

// text is some words, of about the given number of bytes.
func (m *maker) text(size int) string {
	var b strings.Builder
	for b.Len() < size {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		// Words that come early are used more often, as in any language.
		word := int(float64(len(syllables)*len(syllables)) * m.Float64() * m.Float64())
		b.WriteString(syllables[word/len(syllables)] + syllables[word%len(syllables)])
		if m.IntN(3) == 0 {
			b.WriteString(syllables[m.IntN(len(syllables))])
		}
	}
	return b.String()
}

// lines is a text of many lines.
func (m *maker) lines(size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(m.text(70) + "\n")
		if m.IntN(5) == 0 {
			b.WriteString("\n* `" + m.text(10) + "`: \"" + m.text(20) + "\"\n")
		}
	}
	return b.String()
}

func (m *maker) noise(size int) []byte {
	out := make([]byte, size)
	for i := range out {
		out[i] = byte(m.Uint32())
	}
	return out
}
