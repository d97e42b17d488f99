#pragma once
/* Fits intercept + slope * x to `count` points (two at least); returns 0, or LAPACK's number of what went wrong. */
int linefit(int count, const double *x, const double *y, double *intercept, double *slope);
