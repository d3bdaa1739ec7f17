package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/bundle"
)

// hookChanges compares the webhooks with what is registered.
func (f *facts) hookChanges(ctx context.Context, wanted *hooks) ([]change, []bundle.Conversion, error) {
	changes, err := f.c.compare(ctx, wanted.configurations)
	if err != nil {
		return nil, nil, err
	}
	for _, object := range wanted.surplus {
		changes = append(changes, change{remove: object})
	}
	var conversions []bundle.Conversion
	for _, conversion := range wanted.conversions {
		same, err := f.converted(ctx, conversion)
		if err != nil {
			return nil, nil, err
		}
		if !same {
			conversions = append(conversions, conversion)
		}
	}
	return changes, conversions, nil
}

// webhooksMissing looks for webhooks that are not registered as they are wanted. They are registered once the
// Deployments behind them are available, so that no request has to fail for want of a server.
func (f *facts) webhooksMissing(ctx context.Context) (finding, error) {
	if f.hooked {
		return seenNot, nil
	}
	wanted, err := f.computeHooks(ctx)
	if err != nil {
		return seenNot, err
	}
	changes, conversions, err := f.hookChanges(ctx, wanted)
	switch {
	case err != nil:
		return seenNot, err
	case len(changes) > 0:
		return seen(changes[0].String()), nil
	case len(conversions) > 0:
		return seen(notConverted(conversions[0])), nil
	}
	return seenNot, nil
}

// notConverted says that a CRD is converted otherwise than wanted.
func notConverted(c bundle.Conversion) string {
	if c.GenerateName == "" {
		return fmt.Sprintf("CRD %s is still converted by a webhook that is described no more", c.CRD)
	}
	return fmt.Sprintf("CRD %s is not converted by webhook %s", c.CRD, c.GenerateName)
}

// webhooksFailed says that registering a webhook failed in this pass.
func (f *facts) webhooksFailed(context.Context) (finding, error) {
	if f.hookError == nil {
		return seenNot, nil
	}
	return seen(f.hookError.Error()), nil
}

// registerWebhooks registers what is missing and removes what is not wanted any more.
func (f *facts) registerWebhooks(ctx context.Context) {
	f.hooked = true
	f.hookError = func() error {
		wanted, err := f.computeHooks(ctx)
		if err != nil {
			return err
		}
		changes, conversions, err := f.hookChanges(ctx, wanted)
		if err != nil {
			return err
		}
		changes, unanswered := f.registrable(ctx, changes)
		_, err = f.make(ctx, changes, false)
		errs := []error{unanswered, err}
		for _, conversion := range conversions {
			errs = append(errs, f.convert(ctx, conversion))
		}
		return errors.Join(errs...)
	}()
	f.retry = errors.Join(f.retry, f.hookError)
}

// spreadTrust updates the CA bundles of everything that is registered, before a server serves a certificate of a new authority. What the replaced
// versions have registered leads to the same servers, and is asked until it is gone.
func (f *facts) spreadTrust(ctx context.Context) error {
	wanted, err := f.compute(ctx)
	if err != nil {
		return err
	}
	hooks, err := f.computeHooks(ctx)
	if err != nil {
		return err
	}
	errs := []error{f.update(ctx, append(slices.Clone(wanted.apiServices), hooks.configurations...))}
	for _, conversion := range hooks.conversions {
		errs = append(errs, f.updateTrust(ctx, conversion))
	}
	chain, err := f.chain(ctx)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, sibling := range f.siblings {
		if chain.replaces(f.csv.Name, sibling.Name) && sibling.DeletionTimestamp.IsZero() {
			errs = append(errs, f.spreadTo(ctx, sibling))
		}
	}
	return errors.Join(errs...)
}

// update applies those of some objects that exist.
func (f *facts) update(ctx context.Context, objects []client.Object) error {
	var changes []change
	for _, object := range objects {
		err := f.c.client.Get(ctx, client.ObjectKeyFromObject(object), emptyLike(object), client.UnsafeDisableDeepCopy)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read %s %s: %w", kindOf(object), object.GetName(), err)
		}
		if err == nil {
			changes = append(changes, change{apply: object})
		}
	}
	_, err := f.make(ctx, changes, false)
	return err
}
