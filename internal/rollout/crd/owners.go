package crd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Operator is what is needed of a ClusterServiceVersion that has to do with a CRD.
type Operator struct {
	Namespace, Name string
	// Owns and Requires are the versions of the CRD that it names; an empty name stands for every version.
	Owns, Requires []string
}

// String names the operator.
func (o Operator) String() string {
	return fmt.Sprintf("ClusterServiceVersion %s/%s", o.Namespace, o.Name)
}

// providedTwice refuses a second provider in one namespace.
func providedTwice(u Change, owners []Operator) []Finding {
	var findings []Finding
	for _, o := range owners {
		if o.Namespace == u.By.Namespace && len(u.By.Owns) > 0 {
			findings = append(findings, Finding{Check: SingleProvider, Remedy: "remove one of the two, or install it in another namespace",
				What: fmt.Sprintf("CustomResourceDefinition %s of %s is provided by %s already; a namespace can have only one of them",
					u.Desired.Name, u.By.Name, o)})
		}
	}
	return findings
}

// sameDefinition refuses an operator that becomes an owner of a CRD beside those of other namespaces, and defines it otherwise: a cluster
// has one definition, and an operator that runs with that of another may lose what it stores. What an owner may change later, as the operator
// that it is continues to newer versions, is for the rules of shared CRDs to say.
func sameDefinition(u Change, owners []Operator) []Finding {
	others := slices.DeleteFunc(slices.Clone(owners), func(o Operator) bool { return o.Namespace == u.By.Namespace })
	if !u.Joins || len(others) == 0 {
		return nil
	}
	all := differences(u.Live, u.Desired)
	if len(all) == 0 {
		return nil
	}
	first := all[:min(len(all), listed)]
	return []Finding{{Check: SharedDefinition,
		What: fmt.Sprintf("CustomResourceDefinition %s is owned by %s, and %s defines it otherwise, while a cluster has one definition for all namespaces: %s",
			u.Desired.Name, list(others), u.By, safetext.Sample(first, len(all), "; ")),
		Remedy: fmt.Sprintf("install a version that brings the same definition, or upgrade %s to this one first, or remove it", list(others)),
	}}
}

// Redefines reports whether a change alters more of a CRD than what is only read by people.
func (u Change) Redefines() bool { return len(differences(u.Live, u.Desired)) > 0 }

// differences are what the definition of a CRD and the live one differ in, but for what is only read by people. Conversion counts as far as the
// definition itself says who converts: that by the webhook of an operator belongs to who runs the operator.
func differences(live, wanted *definition) []string {
	var all []string
	say := func(where string, is, was any) {
		if !reflect.DeepEqual(is, was) {
			all = append(all, fmt.Sprintf("%s is %v instead of %v", where, is, was))
		}
	}
	say("scope", wanted.Spec.Scope, live.Spec.Scope)
	say("kind", wanted.Spec.Names.Kind, live.Spec.Names.Kind)
	say("preserveUnknownFields", wanted.Spec.PreserveUnknownFields, live.Spec.PreserveUnknownFields)
	// A webhook without an address is that of the operator, which the controller of ClusterServiceVersions writes. Where a caBundle is written
	// by others, it makes no difference.
	then := wanted.Spec.Conversion
	operators := then == nil || then.Strategy == apiextensionsv1.WebhookConverter && (then.Webhook == nil || then.Webhook.ClientConfig == nil)
	if !operators && ConverterOf(then) != ConverterOf(live.Spec.Conversion) {
		all = append(all, "another conversion")
	}
	for i := range live.Spec.Versions {
		was := &live.Spec.Versions[i]
		is := versionOf(wanted, was.Name)
		if is == nil {
			all = append(all, was.Name+" is left out")
			continue
		}
		say(was.Name+": served", is.Served, was.Served)
		say(was.Name+": storage", is.Storage, was.Storage)
		if !equality.Semantic.DeepEqual(is.Subresources, was.Subresources) {
			all = append(all, was.Name+": other subresources")
		}
		if differ(was, is) {
			all = append(all, schemaDifferences(was.Name, schemaOf(was), schemaOf(is))...)
		}
	}
	for _, v := range wanted.Spec.Versions {
		if versionOf(live, v.Name) == nil {
			all = append(all, v.Name+" is added")
		}
	}
	return all
}

// schemaDifferences names the properties that two schemas define otherwise. Of a property that only one of them has, the parts are not named.
func schemaDifferences(version string, live, wanted *props) []string {
	live, wanted = live.DeepCopy(), wanted.DeepCopy()
	undocument(live)
	undocument(wanted)
	was, is := flatten(live), flatten(wanted)
	paths := maps.Clone(was)
	maps.Copy(paths, is)
	var all, single []string
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if slices.ContainsFunc(single, func(p string) bool { return isPart(path, p) }) {
			continue
		}
		what := ""
		switch {
		case is[path] == nil:
			single, what = append(single, path), "left out"
		case was[path] == nil:
			single, what = append(single, path), "added"
		default:
			// The keywords that the two differ in, but for the parts of the property.
			before, after := own(was[path]), own(is[path])
			keys := maps.Clone(before)
			maps.Copy(keys, after)
			var changed []string
			for _, key := range slices.Sorted(maps.Keys(keys)) {
				if before[key] != after[key] {
					changed = append(changed, fmt.Sprintf("%s is %s instead of %s", key, cmp.Or(short(after[key]), "not set"), cmp.Or(short(before[key]), "not set")))
				}
			}
			what = strings.Join(changed, ", ")
		}
		if what != "" {
			all = append(all, fmt.Sprintf("%s: %s: %s", version, path, what))
		}
	}
	return all
}

// own are the keywords of a property without those of its parts, each as JSON. Lists without an order are sorted.
func own(p *props) map[string]string {
	bare := *p
	bare.Properties = nil
	if bare.Items != nil && bare.Items.Schema != nil {
		bare.Items = nil
	}
	if bare.AdditionalProperties != nil && bare.AdditionalProperties.Schema != nil {
		bare.AdditionalProperties = nil
	}
	var decoded map[string]any
	if text, err := json.Marshal(&bare); err != nil || json.Unmarshal(text, &decoded) != nil {
		return map[string]string{"schema": fmt.Sprint(bare)}
	}
	out := map[string]string{}
	for key, value := range decoded {
		if values, ok := value.([]any); ok && (key == "required" || key == "enum") {
			slices.SortFunc(values, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		if text, err := json.Marshal(value); err == nil {
			out[key] = string(text)
		}
	}
	return out
}
