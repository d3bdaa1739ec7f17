package ops

import (
	"context"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

var crdKind = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition").GroupKind()

// definitions judges what becomes of CustomResourceDefinitions and of the custom resources that are stored.
func (r *Rollback) definitions(ctx context.Context, reader client.Reader, now, before []*unstructured.Unstructured) error {
	had := map[string]bool{}
	for _, u := range before {
		if u.GroupVersionKind().GroupKind() != crdKind {
			continue
		}
		had[u.GetName()] = true
		live, err := crd.Live(ctx, reader, u.GetName())
		if err != nil {
			return fmt.Errorf("read CustomResourceDefinition %s: %w", u.GetName(), err)
		}
		if live == nil {
			continue // it is created again
		}
		desired, err := crd.Read(u)
		if err != nil {
			return fmt.Errorf("read CustomResourceDefinition %s of revision %d: %w", u.GetName(), r.To.Number, err)
		}
		// Ask the judge of the manager about the way back. Exemptions of the extension do not count: what goes is always reported.
		v, err := crd.Judge(ctx, crd.Change{Live: live, Desired: desired, Policy: &crd.Policy{}, Back: true}, crd.Stored{Reader: reader})
		if err != nil {
			return err
		}
		for _, f := range v.Warnings {
			r.Warnings = append(r.Warnings, f.What)
		}
		if v.Rewrites != "" {
			r.Warnings = append(r.Warnings, fmt.Sprintf("CustomResourceDefinition %s: %s", live.Name, v.Rewrites))
		}
		for _, f := range v.Proven {
			r.Proven = append(r.Proven, fmt.Sprintf("CustomResourceDefinition %s: %s (%d custom resources checked)", live.Name, f, v.Read))
			r.exemptions = append(r.exemptions, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", f.Check, live.Name, f.Path)), " "))
		}
		r.Blocked = append(r.Blocked, v.Reasons...)
	}
	for _, u := range now {
		if u.GroupVersionKind().GroupKind() != crdKind || had[u.GetName()] {
			continue
		}
		v, err := revision.Preflight{Live: reader}.DroppedBy(ctx, r.ext, r.To.Bundle, u.GetName())
		r.Blocked = append(r.Blocked, v.Reasons...)
		if err != nil {
			return err
		}
	}
	return nil
}
