! The straight line that lies nearest to some points, by LAPACK's least squares.
function linefit(count, x, y, intercept, slope) bind(c) result(status)
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  implicit none
  integer(c_int), value :: count
  real(c_double), intent(in) :: x(count), y(count)
  real(c_double), intent(out) :: intercept, slope
  integer(c_int) :: status
  real(c_double) :: matrix(count, 2), right(count, 1), work(64)
  external :: dgels

  matrix(:, 1) = 1
  matrix(:, 2) = x
  right(:, 1) = y
  call dgels('N', count, 2, 1, matrix, count, right, count, work, size(work), status)
  intercept = right(1, 1)
  slope = right(2, 1)
end function linefit
