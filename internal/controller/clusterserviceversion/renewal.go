package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout/serving"
)

// renewCertificates replaces the certificates that can be replaced now.
func (f *facts) renewCertificates(ctx context.Context) error {
	certificates, err := f.readCertificates(ctx)
	if err != nil {
		return err
	}
	return f.renew(ctx, f.choose(certificates, f.replaceable))
}

// choose picks the certificates that there is a reason for, in the order of their Deployments.
func (f *facts) choose(certificates map[string]*certificate, reason func(*certificate) error) []*certificate {
	var out []*certificate
	for _, name := range slices.Sorted(maps.Keys(certificates)) {
		if c := certificates[name]; reason(c) != nil {
			out = append(out, c)
		}
	}
	return out
}

// renew replaces certificates: by those that were announced, else by new ones.
func (f *facts) renew(ctx context.Context, due []*certificate) error {
	if len(due) == 0 {
		return nil
	}
	for _, c := range due {
		if c.held != nil {
			return c.held
		}
	}
	installer, err := f.installer(ctx)
	if err != nil {
		return err
	}
	f.wanted, f.issued = nil, true
	for _, c := range due {
		if c.announced != nil {
			c.serving = c.announced.serving
		} else if c.serving, err = f.issue(c); err != nil {
			return err
		} else if err := f.spreadInherited(ctx, c); err != nil {
			return err
		}
		if err := f.writeCertificate(ctx, installer, c); err != nil {
			return err
		}
		f.c.announced.Delete(c.key())
	}
	f.rotateAt, f.ripeAt = time.Time{}, time.Time{}
	for _, c := range f.certificates {
		f.judge(c)
	}
	return nil
}

// issue makes the certificate that takes the place of another one.
func (f *facts) issue(c *certificate) (serving.Certificate, error) {
	old := c.serving
	if c.unusable != nil {
		old.CABundle = c.inherited.authorities
	}
	renewed, err := serving.Issue(serving.Request{Hosts: c.allHosts(), Now: f.c.clock.Now(), Life: f.c.limits.certificate, Old: old})
	if err != nil {
		return serving.Certificate{}, fmt.Errorf("renew the serving certificate of Deployment %s: %w", c.deployment, err)
	}
	return renewed, nil
}

// ownCertificatesDue looks for certificates that are to be renewed while the next version takes its time: it may wait for something for as
// long as nobody does anything about it, and this version serves meanwhile. What a successor has taken over is its own business.
func (f *facts) ownCertificatesDue(ctx context.Context) (finding, error) {
	if kept, err := f.keptMeanwhile(ctx); err != nil || !kept {
		return seenNot, err
	}
	return f.firstCertificate(ctx, f.own(f.replaceable))
}

// ownCertificatesUnannounced looks for those of them that are not trusted yet.
func (f *facts) ownCertificatesUnannounced(ctx context.Context) (finding, error) {
	if kept, err := f.keptMeanwhile(ctx); err != nil || !kept {
		return seenNot, err
	}
	return f.firstCertificate(ctx, f.own(f.unannounced))
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
	certificates, err := f.readCertificates(ctx)
	if err != nil {
		return err
	}
	due := f.choose(certificates, f.own(f.replaceable))
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
	if _, err := f.make(ctx, changes); err != nil {
		return fmt.Errorf("roll out the renewed serving certificates of ClusterServiceVersion %s: %w", f.name(), err)
	}
	return nil
}

// spreadToReplaced brings the authorities in what the replaced versions have registered up to date, where it leads to the same servers: it is
// asked until they are gone.
func (f *facts) spreadToReplaced(ctx context.Context) error {
	chain, err := f.chain(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, sibling := range f.siblings {
		if chain.replaces(f.csv.Name, sibling.Name) && sibling.DeletionTimestamp.IsZero() {
			errs = append(errs, f.spreadTo(ctx, sibling))
		}
	}
	return errors.Join(errs...)
}

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
	var changes []change
	for _, object := range hooks.configurations {
		err := f.c.client.Get(ctx, client.ObjectKeyFromObject(object), emptyLike(object), client.UnsafeDisableDeepCopy)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read %s %s: %w", kindOf(object), object.GetName(), err)
		}
		if err == nil {
			changes = append(changes, change{apply: object})
		}
	}
	_, err = old.make(ctx, changes)
	return err
}
