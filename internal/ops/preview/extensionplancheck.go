package preview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/internal/rollout/revision"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// check makes the checks that the controller makes before it writes, with its code, and adds the one that only the rollout makes: which
// objects belong to another owner. now are the objects of the installed revision.
func (p Planner) check(ctx context.Context, change revision.Change, now []*unstructured.Unstructured, plan *ExtensionPlan) error {
	checks := revision.Preflight{Client: p.Client, Live: p.Client}
	if p.NewNamespace == "" || p.NewNamespace != change.Extension.Spec.Namespace {
		plan.refuse(checks.Namespace(ctx, change.Extension))
	}
	plan.refuse(checks.Upgradeable(ctx, change))
	if err := plan.definitions(ctx, checks, change); err != nil {
		return err
	}
	// The definitions that would be deleted with their custom resources. Those without any are just among what is removed.
	all, err := checks.Dropped(ctx, change)
	if err != nil && len(all) == 0 {
		return err
	}
	for _, v := range all {
		for _, f := range v.Findings {
			verdict := CRD{Name: f.CRD, Verdict: CRDUnsafe, Findings: []string{f.String()}}
			if f.Exempt != "" {
				verdict.Verdict = CRDUnchecked
			}
			plan.CRDs = append(plan.CRDs, verdict)
		}
	}
	plan.refuse(revision.DroppedError(all))
	plan.refuse(err) // the annotation with exemptions is wrong
	if err := p.collisions(ctx, change, plan); err != nil {
		return err
	}
	// What the service account lacks, with the roles that give it that.
	err = checks.Account(ctx, change)
	var lacking *permissions.Lacking
	if errors.As(err, &lacking) {
		lacking.Plan = p.Command
	}
	plan.refuse(err)
	plan.RightsExamined = err == nil || lacking != nil
	if lacking != nil {
		roles, err := permissions.Manifests(lacking.RoleName(), lacking.Account, lacking.Missing)
		plan.MissingRoles = string(roles)
		if err != nil {
			return err
		}
	}
	increase := permissions.Compare(now, change.Objects)
	plan.Permissions, plan.Granted = increase.String(), granted(increase)
	// Added permissions have to be acknowledged; they are listed elsewhere.
	err = checks.Increase(ctx, change)
	var more *revision.IncreaseError
	if errors.As(err, &more) {
		err = fmt.Errorf("the upgrade waits until the added permissions are accepted: fairlead upgrade %s --acknowledge-permissions %s", change.Extension.Name, more.Digest())
	}
	plan.refuse(err)
	return nil
}

// refuse notes what is in the way. What the user may not see is not known to be.
func (p *ExtensionPlan) refuse(err error) {
	switch {
	case err == nil:
	case apierrors.IsForbidden(err):
		p.Notes = append(p.Notes, "not checked: "+err.Error())
	case !slices.Contains(p.Blocked, err.Error()): // an annotation that makes no sense is told of by several checks
		p.Blocked = append(p.Blocked, err.Error())
	}
}

// definitions judges the step from each definition of the cluster to the one that is to replace it.
func (p *ExtensionPlan) definitions(ctx context.Context, checks revision.Preflight, change revision.Change) error {
	all, err := checks.Definitions(ctx, change)
	var stop *revision.Refusal
	if errors.As(err, &stop) {
		p.refuse(err)
		return nil
	}
	if err != nil {
		return err
	}
	for _, d := range all {
		verdict := CRD{Name: d.Name, Verdict: CRDSafe, Rewrites: d.Rewrites}
		for _, f := range d.Findings {
			verdict.Findings = append(verdict.Findings, f.String())
		}
		switch {
		case d.New:
			verdict.Verdict = CRDNew
		case d.Unchecked:
			verdict.Verdict = CRDUnchecked
		case d.Err != nil:
			verdict.Verdict = CRDUnsafe
			p.refuse(d.Err)
		}
		p.CRDs = append(p.CRDs, verdict)
	}
	return nil
}

// collisions judges the claim of the next revision on each object that exists, as the rollout does before it writes anything. A new extension
// has a UID that no object names yet.
func (p Planner) collisions(ctx context.Context, change revision.Change, plan *ExtensionPlan) error {
	ext, revisions := change.Extension, change.Revisions
	next := &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: olmv1.LabelValue(ext.Name)},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: ext.Name, UID: cmp.Or(ext.UID, "new"), Controller: new(true)}}}}
	next.UID, next.Spec.Revision = "next", 1
	siblings := map[types.UID]*olmv1.ClusterObjectSet{}
	for i := range revisions {
		siblings[revisions[i].UID] = &revisions[i]
		next.Spec.Revision = max(next.Spec.Revision, revisions[i].Spec.Revision+1)
	}
	next.Spec.CollisionProtection = revision.Protection(ext)
	var refused []*rollout.CollisionError
	claims := &revision.Claims{Reader: p.Client, Set: next, Siblings: siblings, Planned: ext}
	for _, u := range change.Objects {
		live := &metav1.PartialObjectMetadata{}
		live.SetGroupVersionKind(u.GroupVersionKind())
		err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), live)
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			err = fmt.Errorf("look whether %s belongs to another owner: %w", rollout.RefOf(u), err)
			if !apierrors.IsForbidden(err) {
				return err
			}
			plan.refuse(err)
			continue
		}
		claim, err := claims.Judge(ctx, next.Spec.CollisionProtection, live)
		switch {
		case apierrors.IsForbidden(err):
			plan.refuse(err)
		case err != nil:
			return err
		case claim.Verdict == rollout.Refused:
			refused = append(refused, &rollout.CollisionError{Ref: rollout.RefOf(u), Owner: olmv1.ClusterExtensionKind + " " + ext.Name, Claimant: claim.Reason, Remedy: claims.Remedy(ctx, live)})
		case claim.Verdict == rollout.Granted && metav1.GetControllerOfNoCopy(live) == nil:
			plan.Adopted = append(plan.Adopted, rollout.RefOf(u).String())
		}
	}
	plan.collide(refused)
	plan.adopt()
	return nil
}

// adopt takes what is adopted from what is added.
func (p *ExtensionPlan) adopt() {
	added := slices.DeleteFunc(slices.Clone(p.Added), func(name string) bool { return slices.Contains(p.Adopted, name) })
	if p.Totals != nil {
		p.Totals.Adopted = len(p.Added) - len(added)
		p.Totals.Created -= p.Totals.Adopted
	}
	p.Added = added
}

// collide notes collisions: what is in the way, and after the last what to do, on lines of their own where there are several remedies.
func (p *ExtensionPlan) collide(refused []*rollout.CollisionError) {
	remedies := rollout.Remedies(refused)
	for i, collision := range refused {
		text := collision.Fact()
		switch last := i == len(refused)-1; {
		case last && len(remedies) == 1:
			text += "; " + remedies[0]
		case last:
			text = strings.Join(append([]string{text}, remedies...), "\n")
		}
		p.refuse(errors.New(text))
	}
}
