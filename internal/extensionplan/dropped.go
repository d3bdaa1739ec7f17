package extensionplan

import (
	"context"

	"fairlead.dev/fairlead/internal/rollout/revision"
)

// dropped are the definitions that would be deleted with their custom resources. Those without any are just among what is removed.
func (p *Plan) dropped(ctx context.Context, judge revision.Preflight, step revision.Change) error {
	all, err := judge.Dropped(ctx, step)
	if err != nil && len(all) == 0 {
		return err
	}
	for _, v := range all {
		for _, f := range v.Findings {
			verdict := CRD{Name: f.CRD, Verdict: Unsafe, Findings: []string{f.String()}}
			if f.Exempt != "" {
				verdict.Verdict = Unchecked
			}
			p.CRDs = append(p.CRDs, verdict)
		}
	}
	p.refuse(revision.DroppedError(all))
	p.refuse(err) // the annotation with exemptions is wrong
	return nil
}
