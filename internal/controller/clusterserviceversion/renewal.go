package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/serving"
)

// renew promotes what is staged, and issues what cannot be used, of the certificates that there is a reason for.
func (a *actor) renew(ctx context.Context, s *snapshot, reason reasonOf) (effect, error) {
	all, err := s.certificates(ctx)
	if err != nil {
		return effect{}, err
	}
	all = all.clone()
	due := all.choose(reason)
	for _, c := range due {
		if c.held != nil {
			return effect{}, c.held
		}
	}
	out := effect{}
	for _, c := range due {
		out.certificates, out.issued = all, true
		if err := a.take(ctx, s, all, c, c.next.Step); err != nil {
			return out, err
		}
	}
	return out, nil
}

// stage issues the certificates that take the place of others, stores them beside those, and makes everything that is registered trust them.
// They are promoted later.
func (a *actor) stage(ctx context.Context, s *snapshot, reason reasonOf) (effect, error) {
	all, err := s.certificates(ctx)
	if err != nil {
		return effect{}, err
	}
	all = all.clone()
	due := all.choose(reason)
	out := effect{certificates: all}
	for _, c := range due {
		if c.next.Step == serving.StepStage {
			if err := a.take(ctx, s, all, c, serving.StepStage); err != nil {
				return out, err
			}
		}
	}
	for _, c := range due {
		c.trusted = c.Trusted(a.clock.Now())
	}
	if err := a.spreadTrust(ctx, s.after(out)); err != nil {
		err = fmt.Errorf("spread trust in the next serving certificates of ClusterServiceVersion %s: %w", s.name(), err)
		if !reconcile.IsTransient(err) {
			a.tell(s.csv, corev1.EventTypeWarning, v1alpha1.CSVReasonNeedsCertRotation, err.Error())
		}
		return out, err
	}
	for _, c := range due {
		if err := a.take(ctx, s, all, c, serving.StepPublish); err != nil {
			return out, err
		}
	}
	return out, nil
}

// take carries out a step of one of the certificates and stores what it leads to, unless another client was faster: then that one's certificate counts, which
// others trust already.
func (a *actor) take(ctx context.Context, s *snapshot, all certificates, c *certificate, step serving.Step) error {
	installer, err := a.installer(ctx, s)
	if err != nil {
		return err
	}
	r := serving.Request{Now: a.clock.Now(), Life: a.limits.certificate, Hosts: c.allHosts()}
	if c.unusable != nil {
		r.Old.CABundle = c.inherited.authorities
	}
	after, err := c.After(step, r)
	if err != nil {
		return fmt.Errorf("renew the serving certificate of Deployment %s: %w", c.deployment, err)
	}
	c.State = after
	c.decide(r.Now)
	if step == serving.StepIssue {
		if err := a.spreadInherited(ctx, s.after(effect{certificates: all}), c); err != nil {
			return err
		}
	}
	desired := c.secretOf(s.csv)
	desired.ResourceVersion = c.secret.ResourceVersion
	request, err := rollout.Render(desired)
	if err != nil {
		return err
	}
	err = rollout.Ensure(ctx, installer, request, c.secret.ResourceVersion == "", string(fieldManager))
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("another client has written the serving certificate of Deployment %s at the same time; it is read again: %s", c.deployment, err.Error())
	}
	if err != nil {
		return fmt.Errorf("apply %s: %w", describeObject(desired), err)
	}
	live := &corev1.Secret{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(request.Object, live); err != nil {
		return fmt.Errorf("read the answer about %s: %w", describeObject(desired), err)
	}
	c.secret = live.ObjectMeta
	if step == serving.StepIssue || step == serving.StepStage {
		a.issued.Record(c.key(), r.Now)
	}
	return nil
}

// renewOwn renews the certificates that the CSV keeps, and rolls out the pods that serve with them: nothing else of a version that is being
// replaced is written.
func (a *actor) renewOwn(ctx context.Context, s *snapshot) (effect, error) {
	all, err := s.certificates(ctx)
	if err != nil {
		return effect{}, err
	}
	reason := replaceable.ownedBy(s.csv)
	due := all.choose(reason)
	out, err := a.renew(ctx, s, reason)
	if err != nil {
		return out, fmt.Errorf("renew the serving certificates of ClusterServiceVersion %s, which is being replaced: %w", s.name(), err)
	}
	renewed := s.after(out)
	w, err := renewed.workload(ctx)
	if err != nil {
		return out, err
	}
	live, err := renewed.deployments(ctx)
	if err != nil {
		return out, err
	}
	var changes []change
	for _, d := range w.deployments {
		serves := slices.ContainsFunc(due, func(c *certificate) bool { return c.deployment == d.Name })
		if serves && live[d.Name] != nil && ownedBy(live[d.Name], s.csv) {
			changes = append(changes, change{apply: d})
		}
	}
	if out.applied, err = a.apply(ctx, renewed, changes, false); err != nil {
		return out, fmt.Errorf("roll out the renewed serving certificates of ClusterServiceVersion %s: %w", s.name(), err)
	}
	return out, nil
}

// spreadInherited makes the clients that trust the certificate from before trust the new one, before a server serves it. It does not wait until
// they have applied that: the one before is missing, or cannot be used.
func (a *actor) spreadInherited(ctx context.Context, s *snapshot, c *certificate) error {
	if len(c.inherited.authorities) == 0 {
		return nil
	}
	for _, live := range c.inherited.former {
		if live.Spec.InsecureSkipTLSVerify {
			continue // the certificate is not verified
		}
		patched := live.DeepCopy()
		patched.Spec.CABundle = c.Current.CABundle
		if err := a.client.Patch(ctx, patched, client.MergeFrom(live), fieldManager); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("make APIService %s trust the certificate that replaces the one before: %w", live.Name, err)
		}
	}
	return a.spreadTrust(ctx, s)
}

// spreadTrust updates the CA bundles of everything that is registered, before a server serves a certificate of a new authority. What the replaced
// versions have registered leads to the same servers, and is asked until it is gone.
func (a *actor) spreadTrust(ctx context.Context, s *snapshot) error {
	w, err := s.workload(ctx)
	if err != nil {
		return err
	}
	hooks, err := s.hooks(ctx)
	if err != nil {
		return err
	}
	errs := []error{a.update(ctx, s, slices.Concat(w.apiServices, hooks.configurations))}
	for _, conversion := range hooks.conversions {
		live, err := s.crd(ctx, conversion.CRD)
		if err == nil && live != nil && crd.ConverterOf(live.Spec.Conversion).SameService(crd.ConverterOf(conversion.Spec)) {
			err = crd.Convert(ctx, a.client, conversion.CRD, conversion.Spec, fieldManager)
		}
		errs = append(errs, err)
	}
	chain, err := s.chain(ctx)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, sibling := range chain.all {
		if chain.replaces(s.csv.Name, sibling.Name) && sibling.DeletionTimestamp.IsZero() {
			errs = append(errs, a.spreadTo(ctx, s, chain, sibling))
		}
	}
	return errors.Join(errs...)
}

// spreadTo updates the CA bundles of the webhooks of a replaced version that lead to the servers of this one.
func (a *actor) spreadTo(ctx context.Context, s *snapshot, chain *chain, replaced *v1alpha1.ClusterServiceVersion) error {
	old, before := s.of(replaced), *chain
	before.csv = replaced
	all, err := old.certificates(ctx, &before)
	if err != nil {
		return err
	}
	own, err := s.certificates(ctx)
	if err != nil {
		return err
	}
	shared := false
	for name, renewed := range own {
		if all[name] != nil {
			all[name], shared = renewed, true
		}
	}
	if !shared || checkWebhooks(replaced) != nil {
		return nil
	}
	groups, err := s.groups(ctx)
	if err != nil {
		return err
	}
	hooks, err := old.hooks(ctx, groups, all)
	if err != nil {
		return err
	}
	return a.update(ctx, s, hooks.configurations)
}

// update applies those of some objects that exist.
func (a *actor) update(ctx context.Context, s *snapshot, objects []client.Object) error {
	var changes []change
	for _, object := range objects {
		live, err := s.likeThis(ctx, object)
		if err != nil {
			return err
		}
		if live != nil {
			changes = append(changes, change{apply: object})
		}
	}
	_, err := a.apply(ctx, s, changes, false)
	return err
}
