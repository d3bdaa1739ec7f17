package clusterextension

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/internal/rollout/serving"
)

// authorities are the CA bundles of clients of Services, by the names of the Services.
type authorities map[string][]byte

// digest identifies them; it is empty when there are none.
func (a authorities) digest() string {
	if len(a) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(a)) {
		fmt.Fprintf(sum, "%q %q\n", name, a[name])
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// trustedBy reports whether the objects of a revision trust exactly these.
func (a authorities) trustedBy(r *olmv1.ClusterObjectSet) bool {
	return r == nil || r.Annotations[authoritiesKey] == a.digest()
}

// trust makes the certificates that new content needs, and makes its objects trust them.
func (c *Controller) trust(ctx context.Context, s *state, made *content) error {
	found, k := authorities{}, c.keeper(s)
	for _, need := range made.serving {
		one, err := k.ensure(ctx, need)
		if err != nil {
			return err
		}
		found[need.Service] = one.Trusted(c.Clock.Now())
	}
	made.authorities, made.objects = found.digest(), serving.Inject(made.objects, s.ext.Spec.Namespace, found)
	return nil
}

// spread makes a revision that repeats the newest one, of the same bundle, configuration and account, and trusts other authorities. It passes
// no gate: it installs nothing that is not there.
func (c *Controller) spread(ctx context.Context, s *state, newest *olmv1.ClusterObjectSet, found authorities, o *outcome) error {
	objects, err := revision.Objects(ctx, c.client, newest)
	if err != nil {
		return fmt.Errorf("read revision %s, to let its objects trust other certificates: %w", newest.Name, err)
	}
	notes := maps.Clone(newest.Annotations)
	delete(notes, revision.DigestKey)
	delete(notes, revision.ServiceAccountKey)
	notes[authoritiesKey] = found.digest()
	if s.ext.Annotations[RollbackToKey] != "" && notes[copyKey] == "" {
		notes[copyKey] = newest.Name
	}
	_, account, _ := strings.Cut(newest.Annotations[revision.ServiceAccountKey], "/")
	return c.write(ctx, s, revision.Options{Objects: serving.Inject(objects, s.ext.Spec.Namespace, found), Annotations: notes, ServiceAccount: account,
		ProgressDeadlineMinutes: newest.Spec.ProgressDeadlineMinutes}, o)
}
