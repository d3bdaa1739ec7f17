package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/version"
)

// checkProperties sorts the properties of a bundle into what they mean.
func (m *model) checkProperties(b *bundleModel) {
	b.payloads = append(b.payloads, b.source.Payloads...)
	before := 0 // payloads that stand before the property
	for i, p := range b.source.Properties {
		for before < len(b.source.Payloads) && b.source.Payloads[before].Index <= i+before {
			before++
		}
		if isPayload(p.Type) {
			b.payloads = append(b.payloads, NewPayload(i+before, p))
			continue
		}
		b.info.Properties = append(b.info.Properties, p)
		m.checkProperty(b, i+before, p)
	}
	slices.SortStableFunc(b.payloads, func(x, y Payload) int { return x.Index - y.Index })
	for _, p := range b.payloads {
		rule := RuleBundleObject
		if p.Type == PropertyCSVMetadata {
			rule = RuleBundleCSVMetadata
		}
		b.count[p.Type]++
		if p.fault != "" {
			m.breaks(b)(rule, fmt.Sprintf("property[%d] of type %q: %s", p.Index, p.Type, p.fault), "write the value as its type demands")
		} else if p.null {
			m.report(Warning, RuleBundlePropertyEmpty, b.object(), b.source.Position, fmt.Sprintf("property[%d] of type %q: the value is null", p.Index, p.Type), "set it, or remove the property")
		}
	}
	// What the CSV requires is a need of the bundle when its properties declare nothing that it needs: the one who wrote them by hand, or with tools that
	// leave that out, has not said that it needs less. Its properties stay as they are.
	needs := []string{PropertyGVKRequired, PropertyPackageRequired, PropertyLabelRequired, PropertyConstraint}
	if !slices.ContainsFunc(needs, func(kind string) bool { return b.count[kind] > 0 }) {
		for _, p := range b.payloads {
			for _, g := range p.requires {
				if !slices.Contains(b.info.Requires, g) {
					b.info.Requires = append(b.info.Requires, g)
				}
			}
		}
	}
	if n := b.count[PropertyCSVMetadata]; n > 1 {
		m.breaks(b)(RuleBundleCSVMetadata, fmt.Sprintf("the bundle has %d properties of type %q; it may have one", n, PropertyCSVMetadata),
			"keep one of them")
	}
}

func (m *model) checkProperty(b *bundleModel, i int, p Property) {
	b.count[p.Type]++
	report := func(message, fix string) {
		m.breaks(b)(RuleBundleProperty, fmt.Sprintf("property[%d] of type %s: %s", i, safetext.Quote(p.Type), message), fix)
	}
	switch {
	case p.Type == "":
		report("there is no type", "set type")
		return
	case len(p.Value) == 0:
		report("there is no value", "set value")
		return
	}
	if err := b.read(p); err != nil {
		report(err.Error(), "write the value as its type demands")
		return
	}
	if missing := b.missing(p); missing != "" {
		m.report(Warning, RuleBundlePropertyEmpty, b.object(), b.source.Position,
			fmt.Sprintf("property[%d] of type %s: %s", i, safetext.Quote(p.Type), missing), "set it, or remove the property")
	} else if bad := m.malformed(b, p); bad != "" {
		m.report(Warning, RuleBundleGVK, b.object(), b.source.Position,
			fmt.Sprintf("property[%d] of type %s: %s", i, safetext.Quote(p.Type), bad), "correct it: no cluster can have such an API")
	}
	if p.Type == PropertyPackageRequired {
		required := b.required[len(b.required)-1]
		versions, err := version.ParseRange(required.VersionRange)
		if err != nil {
			m.breaks(b)(RuleBundleRequiredRange, fmt.Sprintf("the bundle requires package %s: %v", safetext.Quote(required.PackageName), err),
				"write a range such as \">=1.0.0 <2.0.0\"")
		} else {
			b.info.RequiredPackages = append(b.info.RequiredPackages, PackageRequirement{PackageName: required.PackageName, Range: versions})
		}
	}
	if p.Type == PropertyConstraint && len(p.Value) > maxConstraint {
		m.report(Warning, RuleBundleConstraintSize, b.object(), b.source.Position,
			fmt.Sprintf("property[%d] of type %q has %d bytes; constraints of more than %d are not resolved", i, p.Type, len(p.Value), maxConstraint),
			"write a shorter constraint")
	}
}

// channelProperty is the value of an olm.channel, which only has to be one.
type channelProperty struct {
	ChannelName string `json:"channelName"`
}

// read takes what a property of a known type says; the value of any other only
// has to be JSON.
func (b *bundleModel) read(p Property) error {
	if !json.Valid(p.Value) {
		return errors.New("the value is not JSON")
	}
	var err error
	switch p.Type {
	case PropertyPackage:
		err = appendValue(&b.packages, p)
	case PropertyGVK:
		err = appendValue(&b.info.Provides, p)
	case PropertyGVKRequired:
		err = appendValue(&b.info.Requires, p)
	case PropertyPackageRequired:
		err = appendValue(&b.required, p)
	case PropertyChannel:
		err = appendValue(new([]channelProperty), p)
	case PropertyConstraint:
		b.info.Constraints = append(b.info.Constraints, p.Value)
	case PropertyDeprecated:
		b.info.Deprecated = true
	}
	return err
}

func appendValue[T any](to *[]T, p Property) error {
	var value T
	if err := json.Unmarshal(p.Value, &value); err != nil {
		return errors.New(typeMessage("", err))
	}
	*to = append(*to, value)
	return nil
}

// missing says what the property that was read last does not say although its
// type is about nothing else. Resolvers take it as it is.
func (b *bundleModel) missing(p Property) string {
	switch p.Type {
	case PropertyGVK:
		return b.info.Provides[len(b.info.Provides)-1].missing()
	case PropertyGVKRequired:
		return b.info.Requires[len(b.info.Requires)-1].missing()
	case PropertyPackageRequired:
		if b.required[len(b.required)-1].PackageName == "" {
			return "there is no packageName"
		}
	}
	if string(p.Value) == "null" {
		return "the value is null"
	}
	return ""
}

func (g GVK) missing() string {
	switch {
	case g.Group == "":
		return "there is no group"
	case g.Version == "":
		return "there is no version"
	case g.Kind == "":
		return "there is no kind"
	}
	return ""
}

// malformed is what keeps the GVK of the property that was read last from being
// an API, or empty. Of any other property it is empty.
func (m *model) malformed(b *bundleModel, p Property) string {
	var g GVK
	switch p.Type {
	case PropertyGVK:
		g = b.info.Provides[len(b.info.Provides)-1]
	case PropertyGVKRequired:
		g = b.info.Requires[len(b.info.Requires)-1]
	default:
		return ""
	}
	bad, judged := m.gvks[g]
	if judged {
		return bad
	}
	switch {
	case len(g.Group) > maxGroup || !subdomain.MatchString(g.Group):
		bad = fmt.Sprintf("%s is no group of APIs such as example.com", safetext.Quote(g.Group))
	case !identifier.MatchString(g.Version):
		bad = fmt.Sprintf("%s is no version of an API such as v1beta1", safetext.Quote(g.Version))
	case !identifier.MatchString(strings.ToLower(g.Kind)):
		bad = fmt.Sprintf("%s is no kind such as Thing", safetext.Quote(g.Kind))
	}
	m.gvks[g] = bad
	return bad
}

// The forms that Kubernetes demands of a group, and of a version and, in small
// letters, a kind.
var (
	subdomain  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	identifier = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)
)

// maxGroup is the longest name of a group, in bytes.
const maxGroup = 253
