package bundle

import (
	"encoding/base64"
	"math"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// yaml11Bools are the plain words that YAML 1.1 reads as booleans and YAML 1.2 as text.
var yaml11Bools = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
}

// scalar is the JSON value of a scalar node.
func (c *converter) scalar(node *yaml.Node) (any, error) {
	switch node.ShortTag() {
	case "!!str":
		if node.Style == 0 {
			if b, ok := yaml11Bools[node.Value]; ok {
				return b, nil
			}
		}
		return node.Value, nil
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		if err := node.Decode(&b); err != nil {
			return nil, c.fail(node, "read %q as a boolean: %w", node.Value, err)
		}
		return b, nil
	case "!!int", "!!float":
		// An int64 where the value is whole and fits, else a float64: what a Kubernetes client makes of the JSON form.
		var i int64
		if node.ShortTag() == "!!int" && node.Decode(&i) == nil {
			return i, nil
		}
		var f float64
		if err := node.Decode(&f); err != nil {
			return nil, c.fail(node, "read %q as a number: %w", node.Value, err)
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, c.fail(node, "%q is not a number that JSON knows", node.Value)
		}
		if i, err := strconv.ParseInt(strconv.FormatFloat(f, 'f', -1, 64), 10, 64); err == nil {
			return i, nil
		}
		return f, nil
	case "!!binary":
		data, err := base64.StdEncoding.DecodeString(node.Value)
		if err != nil {
			return nil, c.fail(node, "read binary value: %w", err)
		}
		return string(data), nil
	default: // timestamps, and tags of which nothing is known
		return node.Value, nil
	}
}

// key is the text of a mapping key.
func (c *converter) key(node *yaml.Node) (string, error) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node.Kind != yaml.ScalarNode {
		return "", c.fail(node, "a mapping key has to be text")
	}
	value, err := c.scalar(node)
	if err != nil {
		return "", err
	}
	switch v := value.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		if node.ShortTag() == "!!float" {
			return strconv.FormatFloat(float64(v), 'g', -1, 32), nil
		}
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 32), nil
	default:
		return "", c.fail(node, "a mapping key has to be text, not null")
	}
}
