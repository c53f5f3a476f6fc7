struct pair { struct pair *next; long a, b; };
static int hidden_function(struct pair *p) { return p->next ? (int)p->a : 1; }
int shown_function(struct pair *p) { return hidden_function(p); }
