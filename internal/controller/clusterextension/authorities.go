package clusterextension

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
)

// authorities are what clients of Services are to trust, by the names of the Services.
type authorities map[string][]byte

// digest identifies them; it is empty when there are none.
func (a authorities) digest() string {
	if len(a) == 0 {
		return ""
	}
	var names []string
	for name := range a {
		names = append(names, name)
	}
	slices.Sort(names)
	sum := sha256.New()
	for _, name := range names {
		fmt.Fprintf(sum, "%q %q\n", name, a[name])
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// trustedBy tells whether the objects of a revision trust exactly these.
func (a authorities) trustedBy(r *olmv1.ClusterObjectSet) bool {
	return r == nil || r.Annotations[authoritiesKey] == a.digest()
}

// trust makes the certificates that new content needs, and lets its objects trust them.
func (c *Controller) trust(ctx context.Context, s *state, made *content) error {
	found := authorities{}
	for _, one := range made.serving {
		certificate, err := c.ensure(ctx, s.ext, one)
		if err != nil {
			return err
		}
		found[one.Service] = certificate.current.CABundle
	}
	made.authorities = found.digest()
	objects := slices.Clone(made.objects)
	for i, u := range objects {
		objects[i] = trusting(u, s.ext.Spec.Namespace, found)
	}
	made.objects = objects
	return nil
}
