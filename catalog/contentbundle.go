package catalog

import (
	"encoding/json"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
)

// bundle decodes a bundle without building what its payloads hold.
func (c *content) bundle() any {
	b := &Bundle{Schema: c.object.Schema, Package: c.object.Package, Name: c.object.Name, Position: c.at}
	for _, m := range c.members {
		var err error
		switch {
		case strings.EqualFold(m.key, "image"):
			err = json.Unmarshal(m.value, &b.Image)
		case strings.EqualFold(m.key, "relatedImages"):
			err = json.Unmarshal(m.value, &b.RelatedImages)
		case strings.EqualFold(m.key, "properties"):
			c.properties(b, m.value)
		}
		if err != nil {
			c.report(Error, RuleFieldType, typeMessage(m.key, err), "write the field as the schema demands")
		}
	}
	if len(c.problems) > 0 {
		return nil
	}
	return b
}

// properties decodes the list of properties, the payloads apart from the rest.
func (c *content) properties(b *Bundle, list []byte) {
	switch rawjson.Kind(list) {
	case "null":
		return
	case "list":
	default:
		c.report(Error, RuleFieldType, fmt.Sprintf("\"properties\" is %s, not a list", article(rawjson.Kind(list))), "write a list of objects with type and value")
		return
	}
	cursor := rawjson.NewCursor(list)
	cursor.Peek()
	for i := range cursor.Elements() {
		if i >= c.limits.Items {
			c.failItems("properties")
			return
		}
		p, ok := c.property(i, &cursor)
		switch {
		case !ok:
			return
		case isPayload(p.Type):
			b.Payloads = append(b.Payloads, c.keeper.payload(i, p))
		default:
			p.Value = rawjson.AppendCanonical(nil, p.Value)
			b.Properties = append(b.Properties, p)
		}
	}
}

// property reads the property that the cursor is at; its value points into the
// text.
func (c *content) property(i int, cursor *rawjson.Cursor) (p Property, ok bool) {
	if cursor.Peek() != '{' {
		kind := rawjson.Kind(cursor.Value())
		c.report(Error, RuleFieldType, fmt.Sprintf("\"properties[%d]\" is %s, not an object", i, article(kind)), "write an object with type and value")
		return p, false
	}
	for key, value := range cursor.Members() {
		switch {
		case strings.EqualFold(key, "type"):
			if kind := rawjson.Kind(value); kind != "string" {
				c.report(Error, RuleFieldType, fmt.Sprintf("\"properties[%d].type\" is %s, not a string", i, article(kind)), "write it in quotes")
				return p, false
			}
			p.Type = rawjson.String(value)
		case strings.EqualFold(key, "value"):
			p.Value = value
		default:
			note(&c.unknown, "properties[].", key)
		}
	}
	return p, true
}

func isPayload(propertyType string) bool {
	return propertyType == PropertyBundleObject || propertyType == PropertyCSVMetadata
}
