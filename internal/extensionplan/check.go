package extensionplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
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
// objects belong to another owner.
func (p Planner) check(ctx context.Context, ext *olmv1.ClusterExtension, revisions []olmv1.ClusterObjectSet, now []*unstructured.Unstructured, w *wanted, plan *Plan) error {
	judge := revision.Preflight{Client: p.Client, Live: p.Client}
	step := revision.Change{Extension: ext, Revisions: revisions, Objects: w.objects, Repeated: w.repeated,
		Bundle: revision.Bundle{Name: w.version.Bundle, Version: w.version.Version, Image: w.version.Image, Content: w.content, Direct: ext.Annotations[snapshot.BundleImageKey] != ""}}
	plan.refuse(judge.Namespace(ctx, ext))
	plan.refuse(judge.Upgradeable(ctx, step))
	if err := plan.definitions(ctx, judge, step); err != nil {
		return err
	}
	if err := plan.dropped(ctx, judge, step); err != nil {
		return err
	}
	if err := p.collisions(ctx, ext, revisions, w, plan); err != nil {
		return err
	}
	if err := plan.account(judge.Account(ctx, step)); err != nil {
		return err
	}
	plan.Permissions = permissions.Compare(now, w.objects).String()
	plan.increase(judge.Increase(ctx, step), ext)
	return nil
}

// refuse notes what is in the way. What the user may not see is not known to be.
func (p *Plan) refuse(err error) {
	switch {
	case err == nil:
	case apierrors.IsForbidden(err):
		p.Notes = append(p.Notes, "not checked: "+err.Error())
	case !slices.Contains(p.Blocked, err.Error()): // an annotation that makes no sense is told of by several checks
		p.Blocked = append(p.Blocked, err.Error())
	}
}

// definitions judges the step from each definition of the cluster to the one that is to replace it.
func (p *Plan) definitions(ctx context.Context, judge revision.Preflight, step revision.Change) error {
	all, err := judge.Definitions(ctx, step)
	var stop *revision.Refusal
	if errors.As(err, &stop) {
		p.refuse(err)
		return nil
	}
	if err != nil {
		return err
	}
	for _, d := range all {
		verdict := CRD{Name: d.Name, Verdict: Safe, Rewrites: d.Rewrites}
		for _, f := range d.Findings {
			verdict.Findings = append(verdict.Findings, f.String())
		}
		switch {
		case d.New:
			verdict.Verdict = New
		case d.Unchecked:
			verdict.Verdict = Unchecked
		case d.Err != nil:
			verdict.Verdict = Unsafe
			p.refuse(d.Err)
		}
		p.CRDs = append(p.CRDs, verdict)
	}
	return nil
}

// account notes what the service account lacks, with the roles that give it that.
func (p *Plan) account(err error) error {
	p.refuse(err)
	var lacking *permissions.Lacking
	if !errors.As(err, &lacking) {
		return nil
	}
	roles, err := permissions.Manifests(lacking.RoleName(), lacking.Account, lacking.Missing)
	p.MissingRoles = string(roles)
	return err
}

// increase notes that somebody has to agree to added permissions, which are told elsewhere.
func (p *Plan) increase(err error, ext *olmv1.ClusterExtension) {
	var more *revision.IncreaseError
	if errors.As(err, &more) {
		err = fmt.Errorf("the upgrade waits until the added permissions are accepted: fairlead upgrade %s --acknowledge-permissions %s", ext.Name, more.Digest())
	}
	p.refuse(err)
}

// collisions judges the claim of the next revision on each object that exists, as the rollout does before it writes anything. A new extension
// has a UID that no object names yet.
func (p Planner) collisions(ctx context.Context, ext *olmv1.ClusterExtension, revisions []olmv1.ClusterObjectSet, w *wanted, plan *Plan) error {
	next := &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: olmv1.LabelValue(ext.Name)},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: ext.Name, UID: cmp.Or(ext.UID, "new"), Controller: new(true)}}}}
	next.UID, next.Spec.Revision = "next", 1
	siblings := map[types.UID]*olmv1.ClusterObjectSet{}
	for i := range revisions {
		siblings[revisions[i].UID] = &revisions[i]
		next.Spec.Revision = max(next.Spec.Revision, revisions[i].Spec.Revision+1)
	}
	for _, u := range w.objects {
		live := &metav1.PartialObjectMetadata{}
		live.SetGroupVersionKind(u.GroupVersionKind())
		err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), live)
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			err = fmt.Errorf("look whether %s belongs to another owner: %w", nameOf(u), err)
			if !apierrors.IsForbidden(err) {
				return err
			}
			plan.refuse(err)
			continue
		}
		if claim := revision.Claim(next, siblings, olmv1.CollisionProtectionPrevent, live); claim.Verdict == rollout.Refused {
			plan.refuse(&rollout.CollisionError{Ref: rollout.RefOf(u), Owner: olmv1.ClusterExtensionKind + " " + ext.Name, Claimant: claim.Reason})
		}
	}
	return nil
}
