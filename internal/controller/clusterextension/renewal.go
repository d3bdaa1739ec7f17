package clusterextension

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/revision"
)

// keepUp looks after what goes with the newest revision and is no part of it: certificates and the OperatorCondition. It comes before any
// decision, so that nothing that is in the way of an upgrade, or of knowing what to have, lets certificates run out.
func (c *Controller) keepUp(ctx context.Context, s *state, o *outcome) error {
	newest := s.revisions.newest()
	if newest == nil {
		return nil
	}
	return errors.Join(c.keepCondition(ctx, s.ext, newest), c.keepCertificates(ctx, s, newest, o))
}

// spread makes a revision that repeats the newest one, of the same bundle, configuration and account, and trusts other authorities. It asks
// nobody whether that may be: it installs nothing that is not there.
func (c *Controller) spread(ctx context.Context, s *state, newest *olmv1.ClusterObjectSet, found authorities, o *outcome) error {
	objects, err := revision.Objects(ctx, c.client, newest)
	if err != nil {
		return fmt.Errorf("read revision %s, to let its objects trust other certificates: %w", newest.Name, err)
	}
	for i, u := range objects {
		objects[i] = trusting(u, s.ext.Spec.Namespace, found)
	}
	notes := maps.Clone(newest.Annotations)
	delete(notes, revision.DigestKey)
	delete(notes, revision.ServiceAccountKey)
	notes[authoritiesKey] = found.digest()
	if s.ext.Annotations[RollbackToKey] != "" && notes[copyKey] == "" {
		notes[copyKey] = newest.Name
	}
	_, account, _ := strings.Cut(newest.Annotations[revision.ServiceAccountKey], "/")
	return c.write(ctx, s, revision.Options{Objects: objects, Annotations: notes, ServiceAccount: account,
		ProgressDeadlineMinutes: newest.Spec.ProgressDeadlineMinutes}, o)
}
