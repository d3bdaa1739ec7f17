package preview

import (
	"cmp"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"

	corev1 "k8s.io/api/core/v1"
)

// PlanView is an InstallPlan.
type PlanView struct {
	Namespace  string     `json:"namespace"`
	Name       string     `json:"name"`
	Phase      string     `json:"phase"`
	Approval   string     `json:"approval"`
	Approved   bool       `json:"approved"`
	Generation int        `json:"generation,omitempty"`
	Message    string     `json:"message,omitempty"`
	Account    string     `json:"serviceAccount,omitempty"` // that the plan is limited by
	Operators  []Operator `json:"operators"`
}

// Operator is what a plan does for a ClusterServiceVersion.
type Operator struct {
	Name     string `json:"name"`
	Catalog  string `json:"catalog,omitempty"`
	Image    string `json:"image,omitempty"`
	Replaces string `json:"replaces,omitempty"`
	Bundle   string `json:"bundle,omitempty"` // why its bundle is not at hand
	// Signature reports who signed the bundle, or why the signature policy refuses it, and Verified is whether it accepts the bundle; both are
	// empty without a policy.
	Signature string                 `json:"signature,omitempty"`
	Verified  corev1.ConditionStatus `json:"signatureVerified,omitempty"`
	Steps     []Step                 `json:"steps"`
}

// Step is a step of a plan.
type Step struct {
	Index    int    `json:"index"` // in status.plan
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Group    string `json:"group,omitempty"`
	Version  string `json:"version"`
	Status   string `json:"status"`
	Optional bool   `json:"optional,omitempty"`
	Manifest string `json:"manifest"`         // where it is
	Object   any    `json:"object,omitempty"` // what it is, if AddManifests was called
	Waits    string `json:"waits,omitempty"`
	Failure  string `json:"failure,omitempty"`
	// Caution is what has to be known before the plan is approved.
	Caution string `json:"caution,omitempty"`
}

// ViewPlan views a plan.
func ViewPlan(p *v1alpha1.InstallPlan) PlanView {
	v := PlanView{
		Namespace: p.Namespace, Name: p.Name, Phase: cmp.Or(string(p.Status.Phase), "new"), Approval: string(p.Spec.Approval), Approved: p.Spec.Approved,
		Generation: p.Spec.Generation, Message: p.Status.Message, Operators: []Operator{},
	}
	if ref := p.Status.AttenuatedServiceAccountRef; ref != nil {
		v.Account = ref.Namespace + "/" + ref.Name
	}
	about, mood := reasons(p)
	for i, s := range p.Status.Plan {
		if s == nil { // as a file may have it
			continue
		}
		o := v.operator(p, s.Resolving)
		if o.Catalog == "" && s.Resource.CatalogSource != "" {
			o.Catalog = s.Resource.CatalogSourceNamespace + "/" + s.Resource.CatalogSource
		}
		s := p.Status.Plan[i]
		step := Step{
			Index: i, Kind: s.Resource.Kind, Name: s.Resource.Name, Group: s.Resource.Group, Version: s.Resource.Version,
			Status: cmp.Or(string(s.Status), string(v1alpha1.StepStatusUnknown)), Optional: s.Optional, Manifest: fmt.Sprintf("%d bytes, in the plan", len(s.Resource.Manifest)),
		}
		if ref, is := bundleio.ParseReference(s.Resource.Manifest); is {
			step.Manifest = fmt.Sprintf("%s (%d bytes, in the content store)", ref.Digest, ref.Size)
		} else if foreign, is := bundleio.ParseForeign(s.Resource.Manifest); is {
			step.Manifest = fmt.Sprintf("ConfigMap %s/%s of another implementation; it is read again from the bundle", foreign.Namespace, foreign.Name)
		}
		switch mood {
		case waiting:
			step.Waits = about[i]
		case caution:
			step.Caution = about[i]
		default:
			step.Failure = about[i]
		}
		o.Steps = append(o.Steps, step)
	}
	for _, l := range p.Status.BundleLookups { // of bundles that are still being fetched there are no steps
		v.operator(p, l.Identifier)
	}
	return v
}

// operator returns the operator of a name, which it adds where it is new.
func (v *PlanView) operator(p *v1alpha1.InstallPlan, name string) *Operator {
	for i := range v.Operators {
		if v.Operators[i].Name == name {
			return &v.Operators[i]
		}
	}
	o := Operator{Name: name, Steps: []Step{}}
	for _, l := range p.Status.BundleLookups {
		if l.Identifier != name {
			continue
		}
		o.Image, o.Replaces = l.Path, l.Replaces
		if ref := l.CatalogSourceRef; ref != nil {
			o.Catalog = ref.Namespace + "/" + ref.Name
		}
		for _, c := range l.Conditions {
			if c.Type == v1alpha1.BundleLookupSignatureVerified {
				o.Verified, o.Signature = c.Status, c.Message
				continue
			}
			if c.Status == corev1.ConditionTrue && c.Type != v1alpha1.BundleLookupNotPersisted {
				o.Bundle = strings.Trim(c.Reason+": "+c.Message, ": ")
			}
		}
	}
	v.Operators = append(v.Operators, o)
	return &v.Operators[len(v.Operators)-1]
}
