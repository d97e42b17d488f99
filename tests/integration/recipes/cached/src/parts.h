int first(void);
int second(void);
int main_part(void);
