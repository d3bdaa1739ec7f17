package resolve

import (
	"context"
	"fmt"
)

// DefaultMaxSteps is the budget when Options names none: about a second of work, and at most some tens of megabytes.
const DefaultMaxSteps = 20_000_000

// stepsBetweenChecks is how much work may pass before the context is asked.
const stepsBetweenChecks = 4096

// budget counts steps. Once it has failed it stays so.
type budget struct {
	limit, used, next int
	cancelled         func() error
	err               error
}

func newBudget(ctx context.Context, o Options) *budget {
	limit := o.MaxSteps
	if limit <= 0 {
		limit = DefaultMaxSteps
	}
	return &budget{limit: limit, cancelled: ctx.Err}
}

// spend takes n steps and reports whether work may go on.
func (b *budget) spend(n int) bool {
	b.used += n
	return b.used < b.next || b.check()
}

func (b *budget) check() bool {
	if b.err != nil {
		return false
	}
	if err := b.cancelled(); err != nil {
		b.err = fmt.Errorf("resolve: stopped after %d steps: %w", b.used, err)
		return false
	}
	if b.used > b.limit {
		b.err = &BudgetExceeded{Steps: b.used, Limit: b.limit}
		return false
	}
	b.next = min(b.used+stepsBetweenChecks, b.limit+1)
	return true
}

// BudgetExceeded reports that neither an answer nor its impossibility was found within the budget.
type BudgetExceeded struct{ Steps, Limit int }

func (e *BudgetExceeded) Error() string {
	return fmt.Sprintf("no decision within the budget of %d steps", e.Limit)
}
