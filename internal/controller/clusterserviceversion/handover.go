package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// handoverDelay is how long the servers of a version stay after another one has taken over from them. API servers hear a moment later where
// requests lead now, and those that are under way go where they led before.
const handoverDelay = 10 * time.Second

// requestsUnderWay looks whether the next version, which has succeeded, answers elsewhere, and has done so for a short while only.
func (f *facts) requestsUnderWay(ctx context.Context) (finding, error) {
	installed, err := f.successorInstalled(ctx)
	if err != nil || !installed.holds {
		return seenNot, err
	}
	chain, err := f.chain(ctx)
	if err != nil {
		return seenNot, err
	}
	next := chain.byName[installed.detail]
	elsewhere := slices.ContainsFunc(bundle.ServingDeployments(f.csv), func(deployment string) bool {
		return !slices.Contains(bundle.ServingDeployments(next), deployment)
	})
	since := next.Status.LastTransitionTime
	if !elsewhere || since == nil || f.c.clock.Since(since.Time) >= handoverDelay {
		return seenNot, nil
	}
	f.again = since.Add(handoverDelay)
	return installed, nil
}

// retire takes the admission webhooks of a version away that the next one has registered as well. What the old ones lead to goes later.
func (f *facts) retire(ctx context.Context) error {
	live, err := f.registered(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, o := range live {
		errs = append(errs, removeAs(ctx, f.c.client, o))
	}
	return errors.Join(errs...)
}

// handOver leaves out the APIServices that lead to another server, as long as the one that is to take over from it does not run: whoever
// asks goes on being answered. For each that is left out it says what is waited for.
func (f *facts) handOver(ctx context.Context, services []client.Object, deployments []*appsv1.Deployment) (now []client.Object, later map[string]string, err error) {
	later = map[string]string{}
	for _, o := range services {
		wanted := o.(*apiregistrationv1.APIService)
		live, err := f.readAPIService(ctx, wanted.Name)
		if err != nil {
			return nil, nil, err
		}
		if live == nil || live.Spec.Service == nil || sameService(live.Spec.Service, wanted.Spec.Service) {
			now = append(now, wanted)
			continue
		}
		wait, err := f.waitForServer(ctx, wanted, deployments)
		if err != nil {
			return nil, nil, err
		}
		if wait == "" {
			now = append(now, wanted)
		} else {
			later[wanted.Name] = wait
		}
	}
	return now, later, nil
}

// waitForServer is what has to happen until the server of an APIService answers; empty when nothing has to.
func (f *facts) waitForServer(ctx context.Context, wanted *apiregistrationv1.APIService, deployments []*appsv1.Deployment) (string, error) {
	service := key(wanted.Spec.Service.Namespace, wanted.Spec.Service.Name)
	for _, d := range deployments {
		if bundle.ServingServiceName(d.Name) != service.Name {
			continue
		}
		live, err := f.readDeployment(ctx, d.Name)
		if err != nil {
			return "", err
		}
		if detail := f.unready(ctx, d, live); detail != "" {
			return detail, nil
		}
		if drifted, err := isDrifted(d, live); err != nil || drifted { // the pods that are available may show another certificate
			return fmt.Sprintf("waiting for deployment %s to be as the install strategy asks for", d.Name), err
		}
	}
	if err := f.answers(ctx, service, "let APIService "+wanted.Name+" lead to it", "it leads where it did"); err != nil {
		f.retry = errors.Join(f.retry, err)
		return err.Error(), nil
	}
	return "", nil
}

func sameService(a, b *apiregistrationv1.ServiceReference) bool {
	return a.Namespace == b.Namespace && a.Name == b.Name
}

// registrable leaves out the webhooks that nobody would answer yet, of those that are new or lead to another Service than before, and says
// why. A webhook that does not answer stops everybody who works with what it is asked about.
func (f *facts) registrable(ctx context.Context, changes []change) ([]change, error) {
	var out []change
	var errs []error
	for _, c := range changes {
		wanted := admissionService(c.apply)
		if wanted == nil {
			out = append(out, c)
			continue
		}
		live := emptyLike(c.apply)
		if err := f.c.client.Get(ctx, client.ObjectKeyFromObject(c.apply), live, client.UnsafeDisableDeepCopy); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read %s %s: %w", kindOf(c.apply), c.apply.GetName(), err)
		}
		was := admissionService(live)
		if was != nil && was.Namespace == wanted.Namespace && was.Name == wanted.Name || f.runsNoPods(wanted.Name) {
			out = append(out, c)
			continue
		}
		what := fmt.Sprintf("register %s %s", kindOf(c.apply), c.apply.GetName())
		if err := f.answers(ctx, key(wanted.Namespace, wanted.Name), what, "it is not asked"); err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, c)
	}
	return out, errors.Join(errs...)
}

// runsNoPods says whether the author of the CSV wants no pods of the Deployment behind a Service: then somebody else brings them up, some time.
func (f *facts) runsNoPods(service string) bool {
	return slices.ContainsFunc(f.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs, func(d v1alpha1.StrategyDeploymentSpec) bool {
		return bundle.ServingServiceName(d.Name) == service && d.Spec.Replicas != nil && *d.Spec.Replicas == 0
	})
}

// admissionService is the Service that a webhook configuration leads to; nil when there is none.
func admissionService(o client.Object) *admissionv1.ServiceReference {
	switch configuration := o.(type) {
	case *admissionv1.ValidatingWebhookConfiguration:
		if len(configuration.Webhooks) > 0 {
			return configuration.Webhooks[0].ClientConfig.Service
		}
	case *admissionv1.MutatingWebhookConfiguration:
		if len(configuration.Webhooks) > 0 {
			return configuration.Webhooks[0].ClientConfig.Service
		}
	}
	return nil
}
