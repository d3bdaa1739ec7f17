package installplan

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/internal/rollout/crd"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pagesRewritten is how many pages of objects a pass rewrites; then the plan says how far it is.
const pagesRewritten = 2

// migrate has the objects of a CRD rewritten that may be stored in versions which go.
func (x *execution) migrate(ctx context.Context, c *Controller, s *crdStep) {
	m := crd.Migration{Client: c.client, Reader: c.live, Live: s.upgrade.Live, Leaving: s.verdict.Leaving, Unconverted: s.verdict.Unconverted, Now: c.Clock.Now()}
	waiting, err := m.Rewrite(ctx, pagesRewritten)
	if err != nil {
		s.result.fail(err)
		return
	}
	s.result.waiting = waiting
}

// endConversion takes off a conversion webhook that belongs to no operator, when the new CRD does without one. Whoever set it owns its
// fields, so that they would be left behind if only the strategy were applied, and the API server refuses that.
func (x *execution) endConversion(ctx context.Context, c *Controller, s *crdStep) {
	live := s.upgrade.Live
	if _, converted := x.converterOf(live); converted || !s.verdict.Unconverted || s.result.waiting != "" || s.result.err != nil {
		return
	}
	patch := fmt.Sprintf(`{"metadata":{"uid":%q,"resourceVersion":%q},"spec":{"conversion":{"strategy":"None","webhook":null}}}`, live.UID, live.ResourceVersion)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = live.Name
	err := c.client.Patch(ctx, crd, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner(fieldOwner))
	if err != nil && !apierrors.IsConflict(err) {
		s.result.fail(fmt.Errorf("take the conversion webhook off %s %s: %w", crdKind, live.Name, err))
		return
	}
	s.result.waiting = fmt.Sprintf("%s %s: its conversion webhook is taken off", crdKind, live.Name)
}
