package crd

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/test/must"
)

// TestPruning has what is lost of one object, as far as its content and, when that is out of reach, its managed fields tell.
func TestPruning(t *testing.T) {
	const ab = "{type: object, properties: {a: {type: string}, b: {type: string}}}"
	const onlyA = "{type: object, properties: {a: {type: string}}}"
	list := func(item string) string {
		return "{type: object, properties: {l: {type: array, items: " + item + "}}}"
	}
	keyed := func(item string) string {
		return "{type: object, properties: {l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: " + item + "}}}"
	}
	resource := func(embedded bool) string {
		x := "{type: object, properties: {r: {type: object"
		if embedded {
			x += ", x-kubernetes-embedded-resource: true"
		}
		return x + ", properties: {kind: {type: string}, apiVersion: {type: string}, metadata: {type: object}, spec: {type: object, properties: {a: {type: string}}}}}}}"
	}
	bare := "{type: object, properties: {r: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object, properties: {a: {type: string}}}}}}}"
	tests := map[string]struct {
		old, new string
		object   string
		record   string // managed fields of spec
		want     []string
	}{
		"a field goes that is set":              {ab, onlyA, "{a: x1, b: x2}", `{"f:a":{},"f:b":{}}`, []string{"^.spec.b"}},
		"a field goes that is not":              {ab, onlyA, "{a: x1}", `{"f:a":{}}`, nil},
		"the same schema":                       {ab, ab, "{a: x1, b: x2}", `{"f:a":{},"f:b":{}}`, nil},
		"what the old one does not know":        {onlyA, "{type: object, properties: {c: {type: string}}}", "{b: x2}", `{"f:b":{}}`, nil},
		"in a list that is written as a whole":  {list(ab), list(onlyA), "{l: [{a: x1, b: x2}]}", `{"f:l":{}}`, []string{"^.spec.l[0].b"}},
		"in a list with keys":                   {keyed(ab), keyed(onlyA), "{l: [{a: x1, b: x2}]}", `{"f:l":{"k:{\"a\":\"x1\"}":{".":{},"f:a":{},"f:b":{}}}}`, []string{"^.spec.l[0].b"}},
		"in a list with keys, not set":          {keyed(ab), keyed(onlyA), "{l: [{a: x1}]}", `{"f:l":{"k:{\"a\":\"x1\"}":{".":{},"f:a":{}}}}`, nil},
		"values of a map":                       {"{type: object, additionalProperties: " + ab + "}", "{type: object, additionalProperties: " + onlyA + "}", "{k: {a: x1, b: x2}}", `{"f:k":{".":{},"f:b":{}}}`, []string{"^.spec.k.b"}},
		"all unknown fields are kept":           {ab, "{type: object, x-kubernetes-preserve-unknown-fields: true}", "{b: x2}", `{"f:b":{}}`, nil},
		"unknown fields are kept no longer":     {"{type: object, x-kubernetes-preserve-unknown-fields: true}", onlyA, "{a: x1, z: x2}", `{"f:a":{},"f:z":{}}`, []string{"^.spec.z"}},
		"kept, but for what is in known fields": {"{type: object, properties: {s: " + ab + "}}", "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {s: " + onlyA + "}}", "{s: {b: x2}, z: x3}", `{"f:s":{"f:b":{}}}`, []string{"^.spec.s.b"}},
		"an embedded resource has its metadata": {resource(true), bare, "{r: {kind: Pod, apiVersion: v1, metadata: {name: n}, spec: {a: x1}}}", `{"f:r":{"f:kind":{},"f:metadata":{},"f:spec":{"f:a":{}}}}`, nil},
		"what is embedded no longer has none":   {bare, onlyA, "{r: {kind: Pod}}", `{"f:r":{"f:kind":{}}}`, []string{"^.spec.r"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := must.Value(NewPruning(crd(t, "v1 served stored"+spec(tc.old)), "v1", crd(t, "v2 served stored"+spec(tc.new)), "v2"))(t)
			o := object(t, tc.object)
			text, _ := json.Marshal(o)
			must.Equal(t, "by content", p.Lost(o), tc.want)
			if after, _ := json.Marshal(o); string(after) != string(text) {
				t.Errorf("the object was changed: %s", after)
			}
			entry := metav1.ManagedFieldsEntry{Manager: "m", APIVersion: "example.com/v1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":` + tc.record + `}`)}
			got, err := p.LostByRecord([]metav1.ManagedFieldsEntry{entry}, "example.com/v1")
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("by record: %s %v", diff, err)
			}
			if got, err := p.LostByRecord([]metav1.ManagedFieldsEntry{entry}, "example.com/v0"); got != nil || err != nil {
				t.Errorf("by a record of another version: %v, %v", got, err)
			}
		})
	}
}

func TestRecordsThatCannotBeRead(t *testing.T) {
	p := must.Value(NewPruning(crd(t, "v1 served stored"+spec("{type: object, properties: {a: {type: string}}}")), "v1", crd(t, "v1 served stored"), "v1"))(t)
	entry := metav1.ManagedFieldsEntry{Manager: "m", APIVersion: "example.com/v1", FieldsV1: metav1.NewFieldsV1(`[`)}
	if _, err := p.LostByRecord([]metav1.ManagedFieldsEntry{entry}, "example.com/v1"); err == nil {
		t.Error("a record that cannot be read says nothing of what is lost")
	}
}

// TestRecordsThatStandForTooMuch has managed fields whose every item stands for a large schema.
func TestRecordsThatStandForTooMuch(t *testing.T) {
	var fields, items strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&fields, "f%d: {type: string}, ", i)
		fmt.Fprintf(&items, `"i:%d":{},`, i)
	}
	list := "{type: object, properties: {l: {type: array, items: {type: object, properties: {" + fields.String() + "}}}}}"
	p := must.Value(NewPruning(crd(t, "v1 served stored"+spec(list)), "v1", crd(t, "v1 served stored"), "v1"))(t)
	entry := metav1.ManagedFieldsEntry{Manager: "m", APIVersion: "example.com/v1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:l":{` + items.String() + `".":{}}}}`)}
	_, err := p.LostByRecord([]metav1.ManagedFieldsEntry{entry}, "example.com/v1")
	must.Fail(t, "LostByRecord", err, "more than 200000 fields")
}
