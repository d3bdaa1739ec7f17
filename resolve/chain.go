package resolve

// chain orders a core so that it reads as a chain of reasons: each request, then depth first the clauses about what
// was mentioned, and at the end the conflicts between what was mentioned.
func chain(core []Clause) []Clause {
	c := chaining{core: core, about: make(map[string][]int), told: make([]bool, len(core))}
	for i := range core {
		c.about[core[i].Subject] = append(c.about[core[i].Subject], i)
	}
	for _, kind := range []Kind{Mandatory, Assumed} {
		for i := range core {
			if core[i].Kind == kind && core[i].Subject != "" {
				c.tell(i)
				c.follow(core[i].Subject)
			}
		}
	}
	for i := range core {
		c.tell(i)
	}
	return c.out
}

type chaining struct {
	core  []Clause
	about map[string][]int
	told  []bool
	out   []Clause
}

func (c *chaining) tell(i int) {
	if !c.told[i] {
		c.told[i] = true
		c.out = append(c.out, c.core[i])
	}
}

// follow tells what is about id, and what is about the things that this mentions.
func (c *chaining) follow(id string) {
	for stack := []string{id}; len(stack) > 0; {
		id, stack = stack[len(stack)-1], stack[:len(stack)-1]
		first := len(c.out)
		if id != "" {
			for _, i := range c.about[id] {
				if c.core[i].Kind != Mandatory {
					c.tell(i)
				}
			}
		}
		for i := len(c.out) - 1; i >= first; i-- {
			others := c.out[i].Others
			for j := len(others) - 1; j >= 0; j-- {
				if len(c.about[others[j]]) > 0 {
					stack = append(stack, others[j])
				}
			}
		}
	}
}
