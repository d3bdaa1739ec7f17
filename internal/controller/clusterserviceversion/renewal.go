package clusterserviceversion

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/serving"
)

// renewCertificates replaces the certificates that can be replaced now.
func (f *facts) renewCertificates(ctx context.Context) error {
	all, err := f.readCertificates(ctx)
	if err != nil {
		return err
	}
	return f.renew(ctx, all.choose((*certificate).replaceable))
}

// renew promotes what is staged, and issues what cannot be used.
func (f *facts) renew(ctx context.Context, due []*certificate) error {
	for _, c := range due {
		if c.held != nil {
			return c.held
		}
	}
	for _, c := range due {
		f.wanted, f.issued = nil, true
		if err := f.take(ctx, c, c.next.Step); err != nil {
			return err
		}
	}
	return nil
}

// stage issues the certificates that take the place of others, stores them beside those, and makes everything that is registered trust them.
// They are promoted later.
func (f *facts) stage(ctx context.Context, reason func(*certificate) error) error {
	all, err := f.readCertificates(ctx)
	if err != nil {
		return err
	}
	due := all.choose(reason)
	for _, c := range due {
		if c.next.Step == serving.StepStage {
			if err := f.take(ctx, c, serving.StepStage); err != nil {
				return err
			}
		}
	}
	for _, c := range due {
		c.trusted = c.Trusted(f.c.clock.Now())
	}
	f.wanted = nil
	if err := f.spreadTrust(ctx); err != nil {
		err = fmt.Errorf("spread trust in the next serving certificates of ClusterServiceVersion %s: %w", f.name(), err)
		if !reconcile.IsTransient(err) {
			f.c.tell(f.csv, corev1.EventTypeWarning, v1alpha1.CSVReasonNeedsCertRotation, err.Error())
		}
		return err
	}
	for _, c := range due {
		if err := f.take(ctx, c, serving.StepPublish); err != nil {
			return err
		}
	}
	return nil
}

// take carries out a step and stores what it leads to, unless another client was faster: then that one's certificate counts, which others trust
// already.
func (f *facts) take(ctx context.Context, c *certificate, step serving.Step) error {
	installer, err := f.installer(ctx)
	if err != nil {
		return err
	}
	r := serving.Request{Now: f.c.clock.Now(), Life: f.c.limits.certificate, Hosts: c.allHosts()}
	if c.unusable != nil {
		r.Old.CABundle = c.inherited.authorities
	}
	after, err := c.After(step, r)
	if err != nil {
		return fmt.Errorf("renew the serving certificate of Deployment %s: %w", c.deployment, err)
	}
	c.State = after
	f.decide(c)
	if step == serving.StepIssue {
		if err := f.spreadInherited(ctx, c); err != nil {
			return err
		}
	}
	desired := secretOf(f.csv, c)
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
		return fmt.Errorf("apply %s %s: %w", kindOf(desired), c.key(), err)
	}
	live := &corev1.Secret{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(request.Object, live); err != nil {
		return fmt.Errorf("read the answer about %s %s: %w", kindOf(desired), c.key(), err)
	}
	c.secret = live.ObjectMeta
	if step == serving.StepIssue || step == serving.StepStage {
		f.c.issued.Record(c.key(), r.Now)
	}
	return nil
}

// ownCertificatesDue looks for certificates to replace while the next version takes its time: it may wait for something for long, and this version
// serves meanwhile. What a successor has adopted, that one renews.
func (f *facts) ownCertificatesDue(ctx context.Context) (finding, error) {
	return f.firstOwnCertificate(ctx, (*certificate).replaceable)
}

// ownCertificatesUnstaged looks for those of them whose successor is not staged or not trusted yet.
func (f *facts) ownCertificatesUnstaged(ctx context.Context) (finding, error) {
	return f.firstOwnCertificate(ctx, (*certificate).unstaged)
}

func (f *facts) firstOwnCertificate(ctx context.Context, reason func(*certificate) error) (finding, error) {
	if kept, err := f.keptMeanwhile(ctx); err != nil || !kept {
		return seenNot, err
	}
	return f.firstCertificate(ctx, f.own(reason))
}

// own limits a reason to the certificates that are still those of the CSV.
func (f *facts) own(reason func(*certificate) error) func(*certificate) error {
	return func(c *certificate) error {
		if c.held != nil || !ownedBy(&c.secret, f.csv) {
			return nil
		}
		return reason(c)
	}
}

// renewOwn renews the certificates that the CSV keeps, and rolls out the pods that serve with them: nothing else of a version that is being
// replaced is touched.
func (f *facts) renewOwn(ctx context.Context) error {
	all, err := f.readCertificates(ctx)
	if err != nil {
		return err
	}
	due := all.choose(f.own((*certificate).replaceable))
	if err := f.renew(ctx, due); err != nil {
		return fmt.Errorf("renew the serving certificates of ClusterServiceVersion %s, which is being replaced: %w", f.name(), err)
	}
	wanted, err := f.compute(ctx)
	if err != nil {
		return err
	}
	var changes []change
	for _, d := range wanted.deployments {
		live, err := f.readDeployment(ctx, d.Name)
		if err != nil {
			return err
		}
		serves := slices.ContainsFunc(due, func(c *certificate) bool { return c.deployment == d.Name })
		if serves && live != nil && ownedBy(live, f.csv) {
			changes = append(changes, change{apply: d})
		}
	}
	if _, err := f.make(ctx, changes, false); err != nil {
		return fmt.Errorf("roll out the renewed serving certificates of ClusterServiceVersion %s: %w", f.name(), err)
	}
	return nil
}

// spreadTo updates the CA bundles of the webhooks of a replaced version that lead to the servers of this one.
func (f *facts) spreadTo(ctx context.Context, replaced *v1alpha1.ClusterServiceVersion) error {
	old := newFacts(f.c, replaced)
	certificates, err := old.readCertificates(ctx)
	if err != nil {
		return err
	}
	shared := false
	for name, renewed := range f.certificates {
		if certificates[name] != nil {
			certificates[name], shared = renewed, true
		}
	}
	if !shared || checkWebhooks(replaced) != nil {
		return nil
	}
	hooks, err := old.computeHooks(ctx)
	if err != nil {
		return err
	}
	return old.update(ctx, hooks.configurations)
}
