package clusterserviceversion

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/serving"
)

// maxInherited bounds the registered authorities that stay trusted, besides that of a new certificate.
const maxInherited = 2

// inheritance is what is registered for the servers of a Deployment whose certificate is missing, or lacks its authorities. The running pods may
// still serve a certificate from before, of another manager of operators for example, which the registered clients trust.
type inheritance struct {
	authorities []byte
	// former are the APIServices that lead to the Services which other implementations made, one for each APIService. The same pods are behind
	// these, and are asked by the names of the Services until the APIServices lead elsewhere.
	former []*apiregistrationv1.APIService
}

// inherit reads the CA bundles that are registered for the servers of a Deployment. A certificate that only lacks its authorities, as early
// versions of another implementation left it, is completed with them.
func (f *facts) inherit(ctx context.Context, c *certificate) error {
	if c.unusable == nil {
		return nil
	}
	var found [][]byte
	service := bundle.ServingServiceName(c.deployment)
	for _, description := range f.csv.OwnedAPIServices() {
		if description.DeploymentName != c.deployment {
			continue
		}
		live, err := f.readAPIService(ctx, description.APIServiceName())
		if err != nil {
			return err
		}
		if live == nil || live.Spec.Service == nil || live.Spec.Service.Namespace != c.namespace {
			continue
		}
		former := live.Spec.Service.Name == formerService(description)
		if keeper, err := f.keeperOf(ctx, live); err != nil || keeper != "" || !former && live.Spec.Service.Name != service {
			if err != nil {
				return err
			}
			continue
		}
		if found = append(found, live.Spec.CABundle); former {
			c.inherited.former = append(c.inherited.former, live)
		}
	}
	hooks, err := f.hookAuthorities(ctx, c.namespace, service)
	if err != nil {
		return err
	}
	now := f.c.clock.Now()
	c.inherited.authorities = serving.Merge(now, maxInherited, append(append(found, hooks...), c.Current.CABundle)...)
	if len(c.Current.CABundle) > 0 || len(c.inherited.authorities) == 0 {
		return nil
	}
	completed := c.Current
	completed.CABundle = c.inherited.authorities
	if completed.Check(c.Hosts, now) == nil {
		c.Current, c.completed = completed, true
	}
	return nil
}

// hookAuthorities are the CA bundles of the webhooks of the CSV that lead to a Service.
func (f *facts) hookAuthorities(ctx context.Context, namespace, service string) ([][]byte, error) {
	registered, err := f.registered(ctx)
	if err != nil {
		return nil, err
	}
	for _, owned := range f.csv.Spec.CustomResourceDefinitions.Owned {
		crd, err := f.readCRD(ctx, owned.Name)
		if err != nil {
			return nil, err
		}
		if crd != nil && converts(f.csv, owned.Name) {
			registered = append(registered, crd)
		}
	}
	var objects []*unstructured.Unstructured
	for _, o := range registered {
		u := &unstructured.Unstructured{}
		if err := f.c.client.Scheme().Convert(o, u, nil); err != nil {
			return nil, fmt.Errorf("read the CA bundles of %s %s: %w", kindOf(o), o.GetName(), err)
		}
		objects = append(objects, u)
	}
	return serving.Injected(objects, namespace, service), nil
}

// formerService is the name that another implementation gave the Service in front of an owned API, when it made one for each.
func formerService(d v1alpha1.APIServiceDescription) string {
	return d.Version + "-" + strings.ReplaceAll(d.Group, ".", "-")
}

// allHosts are the names that a new certificate is for: those of the Service, and those by which clients still reach its pods.
func (c *certificate) allHosts() []string {
	out := c.Hosts
	for _, s := range c.inherited.former {
		host := s.Spec.Service.Name + "." + s.Spec.Service.Namespace
		out = append(out[:len(out):len(out)], host, host+".svc")
	}
	return out
}

// spreadInherited makes the clients that trust the certificate from before trust the new one, before a server serves it. It does not wait until
// they have applied that: the one before is missing, or cannot be used.
func (f *facts) spreadInherited(ctx context.Context, c *certificate) error {
	if len(c.inherited.authorities) == 0 {
		return nil
	}
	for _, live := range c.inherited.former {
		patched := live.DeepCopy()
		patched.Spec.CABundle, patched.Spec.InsecureSkipTLSVerify = c.Current.CABundle, live.Spec.InsecureSkipTLSVerify
		if live.Spec.InsecureSkipTLSVerify {
			continue // the certificate is not verified
		}
		if err := f.c.client.Patch(ctx, patched, client.MergeFrom(live), fieldManager); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("make APIService %s trust the certificate that replaces the one before: %w", live.Name, err)
		}
	}
	err := f.spreadTrust(ctx)
	f.wanted = nil
	return err
}
