package resolve

// chain orders a core so that it reads as a chain of reasons: each request, then depth first the clauses about what
// was mentioned, and at the end the conflicts between what was mentioned.
func chain(core []Clause) []Clause {
	c := chaining{core: core, told: make([]bool, len(core)), out: make([]int, 0, len(core)), number: make(map[string]int), mentions: make(map[*string][]int)}
	for i := range core {
		id := core[i].Subject
		if id == "" {
			continue
		}
		n, known := c.number[id]
		if !known {
			n = len(c.about)
			c.number[id], c.about = n, append(c.about, nil)
		}
		c.about[n] = append(c.about[n], i)
	}
	c.followed = make([]bool, len(c.about))
	for _, kind := range []Kind{Mandatory, Assumed} {
		for i := range core {
			if core[i].Kind == kind && core[i].Subject != "" {
				c.tell(i)
				// What is about a subject, and what is about the things that this mentions.
				subject := c.number[core[i].Subject]
				for stack := []int{subject}; len(stack) > 0; {
					subject, stack = stack[len(stack)-1], stack[:len(stack)-1]
					if c.followed[subject] {
						continue
					}
					c.followed[subject] = true
					first := len(c.out)
					for _, i := range c.about[subject] {
						if c.core[i].Kind != Mandatory {
							c.tell(i)
						}
					}
					for i := len(c.out) - 1; i >= first; i-- {
						mentioned := c.mentioned(c.core[c.out[i]].Others)
						for j := len(mentioned) - 1; j >= 0; j-- {
							if !c.followed[mentioned[j]] {
								stack = append(stack, mentioned[j])
							}
						}
					}
				}
			}
		}
	}
	for i := range core {
		c.tell(i)
	}
	// Put core in an order in its own memory, since cores can be long: what belongs at the place i is at order[i].
	order := c.out
	for start := range order {
		first := core[start]
		at := start
		for order[at] >= 0 {
			from := order[at]
			order[at] = -1
			if from == start {
				core[at] = first
				break
			}
			core[at] = core[from]
			at = from
		}
	}
	return core
}

type chaining struct {
	core     []Clause
	number   map[string]int    // of the subjects
	about    [][]int           // by subject
	followed []bool            // by subject: what is about it, and what follows from that, is told
	mentions map[*string][]int // by the first of the Others of a clause, which many clauses share: those of them that are subjects
	told     []bool
	out      []int // the order
}

func (c *chaining) tell(i int) {
	if !c.told[i] {
		c.told[i] = true
		c.out = append(c.out, i)
	}
}

// mentioned are the subjects among the others of a clause.
func (c *chaining) mentioned(others []string) []int {
	if len(others) == 0 {
		return nil
	}
	found, known := c.mentions[&others[0]]
	if !known {
		for _, id := range others {
			if n, is := c.number[id]; is {
				found = append(found, n)
			}
		}
		c.mentions[&others[0]] = found
	}
	return found
}
