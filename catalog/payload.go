package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
	"fairlead.dev/fairlead/catalog/internal/yamljson"
)

// Payload is a property that carries a manifest or the metadata of a CSV. Its
// bytes are kept packed and are unpacked each time they are asked for.
type Payload struct {
	// Type is PropertyBundleObject or PropertyCSVMetadata.
	Type string
	// Index is the place of the property among all those of its bundle.
	Index int

	data blob
	// isManifest is set if data is the manifest that an olm.bundle.object
	// carries in base64, and not the property's value itself.
	isManifest bool
	// fault says why the payload cannot be used.
	fault string
	// null is set if the value of an olm.csv.metadata is null.
	null bool
	// substitutes is set if its annotations name a bundle to take the place of.
	substitutes bool
	// requires are the APIs that the CSV says it requires.
	requires []GVK
	// csv is the name of the CSV that is the manifest; empty for any other manifest.
	csv string
	// dropped is set if data was not kept.
	dropped bool
}

// errDropped is returned for what was loaded with DropPayloads.
var errDropped = errors.New("the catalog was loaded without payloads; load it with them")

// keeping says what becomes of the bytes of payloads.
type keeping int

const (
	keepPacked  keeping = iota // in memory
	keepNothing                // they are checked and dropped
	keepRaw                    // as they are, for as long as their document is being decoded
)

// keeper makes payloads; it belongs to one goroutine.
type keeper struct {
	keeping keeping
	limits  Limits
	scratch []byte // reused
}

// NewPayload packs a property. index is its place among those of its bundle.
func NewPayload(index int, p Property) Payload {
	k := keeper{limits: Limits{}.withDefaults()}
	if err := rawjson.Check(p.Value, k.limits.Depth); err != nil {
		return Payload{Type: p.Type, Index: index, data: pack(p.Value), fault: fmt.Sprintf("the value is not JSON: %v", err)}
	}
	return k.payload(index, p)
}

// payload judges and keeps a property whose value is known to be JSON, or
// missing.
func (k *keeper) payload(index int, p Property) Payload {
	payload := Payload{Type: p.Type, Index: index}
	k.scratch = rawjson.AppendCanonical(k.scratch[:0], p.Value)
	if p.Type == PropertyCSVMetadata {
		payload.fault = csvMetadataShape.mismatch(k.scratch)
		payload.null = string(k.scratch) == "null"
		payload.substitutes = payload.fault == "" && substitutes(p.Type, k.scratch)
		if payload.fault == "" && mayRequire(k.scratch) {
			var found requiredAPIs
			for key, part := range rawjson.Members(k.scratch) {
				found.read(key, "crdDescriptions", part)
			}
			payload.requires = found.gvks()
		}
		k.keep(&payload, k.scratch)
		return payload
	}
	manifest, exact, fault := bundleObject(k.scratch)
	if fault == "" {
		var object []byte
		object, fault = manifestJSON(manifest, k.limits)
		if fault == "" {
			payload.substitutes, payload.requires, payload.csv = substitutes(p.Type, object), manifestRequires(object), csvName(object)
		}
	}
	payload.fault = fault
	if exact && k.keeping == keepPacked {
		payload.isManifest = true
		k.keep(&payload, manifest)
	} else {
		k.keep(&payload, k.scratch)
	}
	return payload
}

func (k *keeper) keep(p *Payload, data []byte) {
	switch k.keeping {
	case keepPacked:
		p.data = pack(data)
	case keepNothing:
		p.dropped = true
	case keepRaw:
		p.data = blob{packed: bytes.Clone(data), size: len(data)}
	}
}

// Value is the property's value, as in Property.
func (p Payload) Value() (json.RawMessage, error) {
	if p.dropped {
		return nil, errDropped
	}
	data, err := new(unpacker).unpack(p.data)
	if err != nil || !p.isManifest {
		return data, err
	}
	return json.Marshal(struct {
		Data []byte `json:"data"`
	}{data})
}

// CSVName is the name of the ClusterServiceVersion that an olm.bundle.object
// carries; empty for another manifest and for an olm.csv.metadata, which has
// none. It is known without the bytes of the payload, too.
func (p Payload) CSVName() string { return p.csv }

// csvName is the name of a manifest if it is a CSV.
func csvName(manifest []byte) string {
	if !bytes.Contains(manifest, []byte("ClusterServiceVersion")) {
		return ""
	}
	var object struct {
		Kind     string
		Metadata struct{ Name string }
	}
	if json.Unmarshal(manifest, &object) != nil || object.Kind != "ClusterServiceVersion" {
		return ""
	}
	return object.Metadata.Name
}

// manifest is the manifest of an olm.bundle.object, as JSON.
func (p Payload) manifest(u *unpacker) (json.RawMessage, error) {
	if p.dropped {
		return nil, errDropped
	}
	data, err := u.unpack(p.data)
	if err != nil {
		return nil, err
	}
	if p.fault != "" {
		return nil, fmt.Errorf("property[%d] of type %q: %s", p.Index, p.Type, p.fault)
	}
	if !p.isManifest {
		data, _, _ = bundleObject(data)
	}
	manifest, fault := manifestJSON(data, Limits{}.withDefaults())
	if fault != "" {
		return nil, fmt.Errorf("property[%d] of type %q: %s", p.Index, p.Type, fault)
	}
	return manifest, nil
}

// substitutesFor is the annotation that names the bundle whose place another
// one takes.
const substitutesFor = "olm.substitutesFor"

// substitutes tells whether a payload says that its bundle takes the place of
// another one.
func substitutes(propertyType string, content []byte) bool {
	if !bytes.Contains(content, []byte(substitutesFor)) && !bytes.Contains(content, []byte(`\u00`)) {
		return false
	}
	var o struct {
		Kind        string
		Metadata    struct{ Annotations map[string]string }
		Annotations map[string]string // of olm.csv.metadata
	}
	if json.Unmarshal(content, &o) != nil {
		return false
	}
	if propertyType == PropertyBundleObject {
		return o.Kind == "ClusterServiceVersion" && o.Metadata.Annotations[substitutesFor] != ""
	}
	return o.Annotations[substitutesFor] != ""
}

// bundleObject takes the manifest out of the canonical value of an
// olm.bundle.object. exact tells whether the value is no more than that, so
// that it can be made from the manifest again.
func bundleObject(value []byte) (manifest []byte, exact bool, fault string) {
	var object struct {
		Data []byte `json:"data"`
	}
	if err := json.Unmarshal(value, &object); err != nil {
		return nil, false, "the value is not an object with data in base64"
	}
	if len(object.Data) == 0 {
		return nil, false, "the value has no data"
	}
	again, err := json.Marshal(object)
	return object.Data, err == nil && bytes.Equal(again, value), ""
}

// manifestJSON is a manifest, written in JSON or YAML, as JSON.
func manifestJSON(manifest []byte, limits Limits) (_ json.RawMessage, fault string) {
	if rawjson.Check(manifest, limits.Depth) != nil {
		out, err := yamljson.Append(nil, manifest, yamljson.Limits{
			Bytes: 2 * limits.DocumentBytes, Depth: limits.Depth, Aliases: limits.Aliases,
		})
		if err != nil {
			return nil, fmt.Sprintf("the manifest is neither JSON nor YAML: %v", err)
		}
		manifest = out
	}
	if kind := rawjson.Kind(manifest); kind != "object" {
		return nil, fmt.Sprintf("the manifest is %s, not an object", article(kind))
	}
	return manifest, ""
}
