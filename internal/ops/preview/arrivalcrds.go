package preview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/claims"
	"fairlead.dev/fairlead/internal/rollout/crd"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// definition judges a CustomResourceDefinition of an operator by the rules of InstallPlans, and compares it with the one that the cluster has.
func (all *arrivals) definition(ctx context.Context, a *arrival, wanted *unstructured.Unstructured) (is, becomes *unstructured.Unstructured, err error) {
	name := wanted.GetName()
	if err := claims.CheckCRD(wanted); err != nil {
		a.refuse(CRD{Name: name, Verdict: CRDUnsafe}, err)
		return nil, wanted, nil
	}
	live, err := crd.Live(ctx, all.Client, name)
	if err != nil {
		return nil, nil, err
	}
	desired, err := crd.Read(wanted)
	if err != nil {
		a.refuse(CRD{Name: name, Verdict: CRDUnsafe}, fmt.Errorf("CustomResourceDefinition %s cannot be read: %w", name, err))
		return nil, wanted, nil
	}
	if live == nil {
		a.change.CRDs = append(a.change.CRDs, CRD{Name: name, Verdict: CRDNew})
		return nil, wanted, nil
	}
	left := all.judge(ctx, a, desired, live)
	if left {
		return wanted, wanted, nil
	}
	return all.redefined(a, desired, live)
}

// judge notes the verdict on the upgrade of a definition, and reports whether the live one is left as it is but for a record of the operator.
func (all *arrivals) judge(ctx context.Context, a *arrival, desired, live *apiextensionsv1.CustomResourceDefinition) (left bool) {
	verdict := CRD{Name: live.Name, Verdict: CRDSafe}
	change, claim, err := all.definitions.Change(ctx, a.Bundle.Name, desired, live)
	var v crd.Verdict
	if err == nil {
		v, err = crd.Judge(ctx, change, crd.Stored{})
		err = errors.Join(err, v.Err)
	}
	verdict.asked = claim.Asked
	// Who cannot be read is taken to have a say: in a definition that changes, and in whether it may.
	if unsure := cmp.Or(all.reads.taken(), all.partial); unsure != nil && (err != nil || !claim.Leave && change.Redefines()) {
		verdict.Verdict = CRDUnchecked
		verdict.Findings = []string{messages.Unseen(unsure, "operators of other namespaces, which may have a say in it,", "the InstallPlan judges it")}
		a.change.CRDs = append(a.change.CRDs, verdict)
		return false
	}
	if err == nil && v.Unread && !claim.Leave {
		v, err = all.readObjects(ctx, change, v, &verdict)
	}
	for _, f := range slices.Concat(v.Warnings, v.Noticed) {
		verdict.Findings = append(verdict.Findings, f.Sentence())
	}
	if err != nil {
		verdict.Verdict = CRDUnsafe
		a.refuse(verdict, err)
		return false
	}
	if len(v.Leaving) > 0 && !claim.Leave {
		verdict.Rewrites = fmt.Sprintf("custom resources that may be stored as %s are rewritten before", strings.Join(v.Leaving, ", "))
	}
	a.change.CRDs = append(a.change.CRDs, verdict)
	return claim.Leave || claim.Join
}

// readObjects compares stored objects with the new definition: as many as a pass of the InstallPlan reads. Where they cannot be read, or there are more, the
// verdict is that of the rules.
func (all *arrivals) readObjects(ctx context.Context, change crd.Change, rules crd.Verdict, verdict *CRD) (crd.Verdict, error) {
	objects, err := (*crd.Objects)(nil).For(change)
	if err != nil {
		return rules, err
	}
	v, err := crd.Judge(ctx, change, crd.Stored{Reader: all.Client, Objects: objects, Now: time.Now()})
	if err != nil {
		verdict.Verdict = CRDUnchecked
		verdict.Findings = append(verdict.Findings, "its custom resources decide, and cannot be read from here: "+messages.Error(err))
		return rules, nil
	}
	if v.Err == nil && (v.Waiting != "" || v.Unread) {
		verdict.Verdict = CRDUnchecked
		verdict.Findings = append(verdict.Findings, "its custom resources decide, and the InstallPlan reads all of them before anything is written")
	}
	return v, v.Err
}

// refuse notes why the InstallPlan would be refused because of a definition.
func (a *arrival) refuse(verdict CRD, why error) {
	verdict.Findings = append(verdict.Findings, why.Error())
	a.change.CRDs = append(a.change.CRDs, verdict)
	a.change.Blocked = append(a.change.Blocked, why.Error())
}

// redefined are a live definition and the one that takes its place, each as the API server keeps it. Conversion by a webhook of the operator is for the
// controller that runs the operator, so it is compared only where the definition itself has it.
func (all *arrivals) redefined(a *arrival, desired, live *apiextensionsv1.CustomResourceDefinition) (is, becomes *unstructured.Unstructured, err error) {
	desired, live = desired.DeepCopy(), live.DeepCopy()
	if desired.Spec.Conversion == nil || all.definitions.Converts(a.Bundle.Name, desired.Name) {
		desired.Spec.Conversion, live.Spec.Conversion = nil, nil
	} else {
		apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(live)
	}
	conversion := desired.Spec.Conversion
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(desired)
	desired.Spec.Conversion = conversion
	will, err := rollout.Render(desired)
	if err != nil {
		return nil, nil, err
	}
	now, err := rollout.Render(live)
	if err != nil {
		return nil, nil, err
	}
	for _, u := range []*unstructured.Unstructured{will, now} {
		u.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind(crdKind))
	}
	becomes, is = rollout.Compare(all.Client.Scheme(), will, now)
	becomes.Object["spec"], is.Object["spec"] = will.Object["spec"], now.Object["spec"] // whole: what is not defined any more goes
	return is, becomes, nil
}
