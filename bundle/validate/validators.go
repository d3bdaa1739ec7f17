package validate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"
)

// Validator is a set of rules that is checked as a whole.
type Validator struct {
	Name string `json:"name"`
	// Labels select validators: name, suite and the like.
	Labels      map[string]string `json:"labels"`
	Description string            `json:"description"`
	// Optional validators are checked only when they are asked for.
	Optional bool `json:"optional"`

	check func(context.Context, recorder)
}

// formatName is the name of the validator that checks the form of files.
const formatName = "format"

// suite is the label value of what the public catalog of operators asks for.
const suite = "operatorframework"

// Validators are all validators, those that are always checked first.
func Validators() []Validator {
	always := func(name, description string, check func(recorder)) Validator {
		return Validator{Name: name, Labels: map[string]string{"name": name}, Description: description,
			check: func(_ context.Context, r recorder) { check(r) }}
	}
	optional := func(name, description, suite string, check func(recorder)) Validator {
		v := always(name, description, check)
		v.Optional = true
		if suite != "" {
			v.Labels["suite"] = suite
		}
		return v
	}
	return []Validator{
		always(formatName, "directories, annotations, dependencies, and what files hold", checkFormat),
		always("install", "what installation relies on", checkInstall),
		always("csv", "the ClusterServiceVersion", checkCSV),
		always("crd", "the CustomResourceDefinitions, as the API server checks them, without their schemas", checkCRDs),
		always("bundle", "what fits together in a bundle and in a catalog, metadata of objects, and the size", checkBundle),
		optional("alpha-deprecated-apis", "Kubernetes APIs that are removed in 1.22, 1.25 or 1.26; value: k8s-version", "", checkRemovedAPIs),
		optional("community", "bundles with APIs removed in 1.22 are kept from later OpenShift versions (deprecated); value: index-path", "", checkCommunity),
		optional("good-practices", "requests of containers, descriptions of CRDs, names of channels, permissions on CRDs", "", checkGoodPractices),
		{Name: "multiarch", Labels: map[string]string{"name": "multiarch"}, Optional: true, check: checkPlatforms,
			Description: "images against the platforms that labels and affinities name; asks the registries"},
		optional("object", "PodDisruptionBudgets, PriorityClasses and permissions that harm a cluster", "", checkObjects),
		optional("olm-v1", "what keeps a bundle from being installed through ClusterExtensions", "", checkV1),
		optional("operatorhub/v1", "operatorhub/v2, standardcapabilities and standardcategories (deprecated: select those)", "", checkOperatorHubV1),
		optional("operatorhub/v2", "provider, maintainers, links and icon, and removed APIs; value: k8s-version", suite, checkOperatorHub),
		optional("standardcapabilities", "the annotation capabilities has a standard value", suite, checkCapabilities),
		optional("standardcategories", "the annotation categories has standard values", suite, checkCategories),
	}
}

// aliases are other names that scripts use.
var aliases = map[string]string{
	"operatorhub":       "operatorhub/v1",
	"bundle-objects":    "object",
	"operatorhubv2":     "operatorhub/v2",
	"goodpractices":     "good-practices",
	"multiarchitecture": "multiarch",
}

// Select finds optional validators: by name, or by a selector of labels such as suite=operatorframework. Each is there once.
func Select(selectors ...string) ([]Validator, error) {
	var out []Validator
	for _, text := range selectors {
		found, err := find(text)
		if err != nil {
			return nil, err
		}
		for _, v := range found {
			if !slices.ContainsFunc(out, func(o Validator) bool { return o.Name == v.Name }) {
				out = append(out, v)
			}
		}
	}
	return out, nil
}

func find(text string) ([]Validator, error) {
	name := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "name="))
	if alias, ok := aliases[name]; ok {
		name = alias
	}
	var known, selected []Validator
	selector, err := labels.Parse(text)
	for _, v := range Validators() {
		switch {
		case !v.Optional:
			continue
		case v.Name == name:
			return []Validator{v}, nil
		case err == nil && !selector.Empty() && selector.Matches(labels.Set(v.Labels)):
			selected = append(selected, v)
		}
		known = append(known, v)
	}
	if len(selected) == 0 {
		return nil, fmt.Errorf("no validator is selected by %q; choose from %s, or suite=%s", text, names(known), suite)
	}
	return selected, nil
}

func names(validators []Validator) string {
	var out []string
	for _, v := range validators {
		out = append(out, v.Name)
	}
	return strings.Join(out, ", ")
}

// Options say what is checked besides what is always checked. The zero value adds nothing.
type Options struct {
	// Optional are further validators; Select finds them.
	Optional []Validator
	// KubeVersion is the Kubernetes version that the bundle is for, in which removed APIs are errors. Empty stands for
	// the lowest that the bundle allows.
	KubeVersion string
	// IndexFile is the content of the Dockerfile of the catalog that the bundle is meant for, nil if there is none. The
	// validator community reads its label with OpenShift versions.
	IndexFile []byte
	// Categories take the place of the standard categories, if there are any.
	Categories []string
	// Platforms tells the platforms of images to the validator multiarch.
	Platforms Platforms
}

// Platforms finds out for which platforms an image is offered.
type Platforms interface {
	Platforms(ctx context.Context, image string) ([]Platform, error)
}

// Platform is an operating system and an architecture.
type Platform struct{ OS, Architecture string }

func (p Platform) String() string { return p.OS + "/" + p.Architecture }

// Run judges a bundle. Its error is for options that make no sense, and for a context that ends.
func Run(ctx context.Context, in *bundle.Inspection, o Options) (Report, error) {
	if o.KubeVersion != "" {
		if _, err := version.ParseTolerant(o.KubeVersion); err != nil {
			return Report{}, fmt.Errorf("validate bundle: Kubernetes version: %w", err)
		}
	}
	s := &subject{Inspection: in, csv: in.Bundle.CSV, options: o, lines: map[string]bundle.Lines{}, files: map[string]string{}}
	for _, f := range in.Manifests {
		if f.Object != nil {
			if _, taken := s.files[nameOf(f.Object)]; !taken {
				s.files[nameOf(f.Object)] = f.Name
			}
		}
	}
	findings := []Finding{} // never null for programs
	always := slices.DeleteFunc(Validators(), func(v Validator) bool { return v.Optional })
	for _, v := range slices.Concat(always, o.Optional) {
		left := maxFindings
		v.check(ctx, recorder{subject: s, validator: v.Name, findings: &findings, left: &left})
	}
	if err := ctx.Err(); err != nil {
		return Report{}, fmt.Errorf("validate bundle: %w", err)
	}
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	failed := slices.ContainsFunc(findings, func(f Finding) bool { return f.Severity == catalog.Error })
	return Report{Bundle: in.Bundle.Name, Passed: !failed, Findings: findings}, nil
}
