package crds_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/fairlead/test/must"
)

// ruleCase is a change of a valid object and the one thing that is wrong with it afterwards.
type ruleCase struct {
	change string // YAML that is put over the object
	path   string // where the error is; empty when there is none
	detail string // part of the error's text
}

func (c ruleCase) check(t *testing.T, errs field.ErrorList) {
	t.Helper()
	if c.path == "" {
		for _, err := range errs {
			t.Errorf("unexpected error: %v", err)
		}
		return
	}
	for _, err := range errs {
		if err.Field == c.path && strings.Contains(err.Error(), c.detail) {
			return
		}
	}
	t.Errorf("want an error at %s with %q, got %v", c.path, c.detail, errs)
}

// checkCreate makes each change to a valid object and creates it.
func checkCreate(t *testing.T, valid string, cases map[string]ruleCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			object := overlay(parse(t, valid), parse(t, c.change))
			_, unknown, errs := admit(t, object)
			must.Empty(t, "the object has unknown fields", unknown)
			c.check(t, errs)
			c.checkServed(t, object, nil)
		})
	}
}

// checkUpdate creates a valid object and makes each change to it.
func checkUpdate(t *testing.T, valid string, cases map[string]ruleCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			old, _, errs := admit(t, parse(t, valid))
			if len(errs) > 0 {
				t.Fatalf("the object to start from is not valid: %v", errs)
			}
			a := admissionOf(t, old)
			changed := overlay(runtime.DeepCopyJSON(old), parse(t, c.change))
			a.prune(changed)
			c.check(t, a.update(changed, old))
			c.checkServed(t, changed, old)
		})
	}
}

// at is the value at a path of an object, and nil when there is none.
func at(obj any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			fields, _ := obj.(map[string]any)
			obj = fields[step]
		case int:
			items, _ := obj.([]any)
			if step >= len(items) {
				return nil
			}
			obj = items[step]
		}
	}
	return obj
}
