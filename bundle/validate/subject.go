package validate

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
)

// subject is the bundle that is being judged, and what its validators share.
type subject struct {
	*bundle.Inspection
	csv     *v1alpha1.ClusterServiceVersion // nil when there is none to judge
	options Options
	lines   map[string]bundle.Lines
	files   map[string]string // of objects, by kind and name
}

// nameOf names an object in findings.
func nameOf(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetName()
}

// linesOf finds the lines of a file, once; none if there is no such file.
func (s *subject) linesOf(name string) bundle.Lines {
	lines, ok := s.lines[name]
	if !ok {
		for _, f := range slices.Concat(s.Metadata, s.Manifests) {
			if f.Name == name {
				lines = f.Lines()
			}
		}
		s.lines[name] = lines
	}
	return lines
}

// metadataFile is the file that has a key of the metadata.
func (s *subject) metadataFile(key string) string {
	for _, f := range s.Metadata {
		if s.linesOf(f.Name).Has(key) {
			return f.Name
		}
	}
	return ""
}

// place is what a finding is about.
type place struct{ file, object, field string }

// in is a field of the same object.
func (p place) in(format string, args ...any) place {
	p.field = fmt.Sprintf(format, args...)
	return p
}

// recorder collects the findings of one validator.
type recorder struct {
	*subject
	validator string
	findings  *[]Finding
	left      *int // findings that may still be listed
}

func (r recorder) err(rule bundle.Rule, at place, message, fix string) {
	r.add(catalog.Error, rule, at, message, fix)
}

func (r recorder) warn(rule bundle.Rule, at place, message, fix string) {
	r.add(catalog.Warning, rule, at, message, fix)
}

func (r recorder) add(severity catalog.Severity, rule bundle.Rule, at place, message, fix string) {
	*r.left--
	switch {
	case *r.left < 0:
		return
	case *r.left == 0:
		severity, rule, at = catalog.Error, RuleMore, place{}
		message, fix = fmt.Sprintf("there are more than %d findings", maxFindings), "mend those that are listed, and look again"
	}
	*r.findings = append(*r.findings, Finding{
		Severity: severity, Validator: r.validator, Rule: rule, Type: cmp.Or(types[rule], defaultType),
		File: at.file, Line: r.linesOf(at.file).Of(at.field), Object: at.object, Field: at.field, Message: message, Fix: fix,
	})
}

// csvPlace is the ClusterServiceVersion.
func (s *subject) csvPlace() place {
	object := v1alpha1.ClusterServiceVersionKind + " " + s.csv.Name
	return place{file: s.files[object], object: object}
}

// objectPlace is another object.
func (s *subject) objectPlace(object *unstructured.Unstructured) place {
	name := nameOf(object)
	return place{file: s.files[name], object: name}
}
