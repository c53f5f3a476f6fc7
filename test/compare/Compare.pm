# SPDX-License-Identifier: GPL-2.0-or-later
# The comparisons share this: TAP, addresses that are random and yet the same each time,
# and readelf's knowledge of a file. Only the modules of Debian's perl-base are used.
package Compare;
use strict;
use warnings;
no warnings 'portable'; # of addresses above 2^32
use Exporter 'import';
use File::Temp 'tempdir';

our @EXPORT = qw(case_is skip_case diagnose end_cases random_number output_of has_tool
	write_addresses text_sections random_addresses read_symbols symbol_at);

$ENV{LC_ALL} = 'C';
my $scratch = tempdir(CLEANUP => 1);
my ($cases, $failures) = (0, 0);

sub case_is
{
	my ($is_right, $what) = @_;

	$failures++ unless $is_right;
	printf "%s %d - %s\n", $is_right ? 'ok' : 'not ok', ++$cases, $what;
}

sub skip_case
{
	my ($what, $why) = @_;

	printf "ok %d - %s # SKIP %s\n", ++$cases, $what, $why;
}

sub diagnose
{
	print map { "# $_\n" } map { split /\n/ } @_;
}

# The status to exit with.
sub end_cases
{
	print "1..$cases\n";
	return $failures ? 1 : 0;
}

# random_number(\$state, $below): the same sequence with every perl. Knuth's MMIX constants.
sub random_number
{
	my ($state, $below) = @_;

	{
		use integer; # modulo 2^64
		$$state = $$state * 6364136223846793005 + 1442695040888963407;
	}
	return (($$state >> 20) & 0x7ffffffffff) % $below;
}

sub has_tool
{
	my ($tool) = @_;

	return grep { -x "$_/$tool" } split /:/, $ENV{PATH};
}

# output_of(\@command, $input): its lines, of stdout; it must succeed.
sub output_of
{
	my ($command, $input) = @_;
	my $pid = open(my $out, '-|') // die "fork: $!\n";

	if (!$pid) {
		open(STDIN, '<', $input // '/dev/null') or die "$input: $!\n";
		open(STDERR, '>', '/dev/null');
		exec @$command or exit 127;
	}
	my @lines = <$out>;
	chomp @lines;
	close($out) or die "$command->[0] failed for $command->[-1]\n";
	return \@lines;
}

# The name of a file with these addresses.
sub write_addresses
{
	my $name = "$scratch/addresses";

	open(my $file, '>', $name) or die "$name: $!\n";
	printf $file "0x%x\n", $_ for @_;
	close($file) or die "$name: $!\n";
	return $name;
}

# [start, end, number] of each section with instructions.
sub text_sections
{
	my ($file) = @_;
	my @sections;

	for (@{output_of(['readelf', '-SW', $file])}) {
		# [Nr] Name Type Address Off Size ES Flg Lk Inf Al
		next unless /^\s*\[\s*(\d+)\]\s+\S+\s+(?:PROG|NO)BITS\s+(\S+)\s+\S+\s+(\S+)\s+\S+\s+[A-Z]*X/;
		push @sections, [hex $2, hex($2) + hex($3), $1] if hex $3;
	}
	return @sections;
}

# So many addresses in the sections, sorted; fewer if some come up twice.
sub random_addresses
{
	my ($sections, $wanted) = @_;
	my ($state, $total, %seen) = (1, 0);

	$total += $_->[1] - $_->[0] for @$sections;
	for (1 .. $wanted) {
		my $at = random_number(\$state, $total);
		for (@$sections) {
			my $size = $_->[1] - $_->[0];
			if ($at < $size) {
				$seen{$_->[0] + $at} = 1;
				last;
			}
			$at -= $size;
		}
	}
	return sort { $a <=> $b } keys %seen;
}

my %rank = (GLOBAL => 3, UNIQUE => 3, WEAK => 2);
my $old_rank = 1.5;

# The functions in readelf's output, as the lines of its tables: sorted by their start.
# Each is {start, end, rank, name, section}; end is the start if there is no size. The names
# of symbols without a type, as labels of assemblers, are put into %$labels.
sub read_symbols
{
	my ($file, $labels) = @_;
	my ($is_dynamic, @symbols);

	for (@{output_of(['readelf', '-sW', $file])}) {
		if (/^Symbol table '(.*)'/) {
			$is_dynamic = $1 eq '.dynsym';
			next;
		}
		# Num: Value Size Type Bind Vis [<other>: 88] Ndx Name
		next unless my ($value, $size, $type, $bind, $section, $name) =
			/^\s*\d+: ([0-9a-f]+)\s+(\w+) (FUNC|IFUNC|NOTYPE)\s+(\w+)\s+\w+\s+(?:\[.*?\]\s+)?(\d+|ABS) (.+)/;
		# A version with one @ is for programs that were linked with it long ago.
		my $is_old = $is_dynamic && $name =~ /[^\@]\@[^\@]/;
		$name =~ s/\@.*// if $is_dynamic;
		if ($type eq 'NOTYPE') {
			$labels->{$name} = 1;
			next;
		}
		$size = hex $size if $size =~ /^0x/;
		push @symbols, {start => hex $value, end => hex($value) + $size,
			rank => $is_old ? $old_rank : $rank{$bind} // 1, name => $name, section => $section};
	}
	@symbols = sort { $a->{start} <=> $b->{start} } @symbols;
	# How far the symbols up to each of them reach, so that a search can stop.
	my $reach = 0;
	for (@symbols) {
		$reach = $_->{end} if $_->{end} > $reach;
		$_->{reach} = $reach;
	}
	return \@symbols;
}

# The number of the last symbol that starts at or before an address, or -1.
sub last_before
{
	my ($symbols, $address) = @_;
	my ($low, $high) = (0, scalar @$symbols);

	while ($low < $high) {
		my $middle = int(($low + $high) / 2);
		if ($symbols->[$middle]{start} <= $address) {
			$low = $middle + 1;
		} else {
			$high = $middle;
		}
	}
	return $low - 1;
}

sub dashes
{
	my ($dashes) = $_[0]{name} =~ /^(_*)/;

	return length $dashes;
}

# The order in which symbols are preferred; of names only the first 255 bytes are looked at.
sub compare_symbols
{
	my ($x, $y) = @_;

	return $y->{start} <=> $x->{start} || $y->{rank} <=> $x->{rank} ||
		($x->{name} =~ /\@/) cmp ($y->{name} =~ /\@/) || dashes($x) <=> dashes($y) ||
		substr($x->{name}, 0, 255) cmp substr($y->{name}, 0, 255);
}

# The best of several symbols, and those that are as good.
sub best_of
{
	my @best = sort { compare_symbols($a, $b) } @_;

	return grep { compare_symbols($_, $best[0]) == 0 } @best;
}

# symbol_at($symbols, $sections, $address): the symbols that may name it, by the rules of
# sym/elf/symbols.h; all that cover it; and those at the last start before it.
sub symbol_at
{
	my ($symbols, $sections, $address) = @_;
	my $last = last_before($symbols, $address);
	my (@covering, @nearest);

	for (my $i = $last; $i >= 0 && $symbols->[$i]{reach} > $address; $i--) {
		push @covering, $symbols->[$i] if $symbols->[$i]{end} > $address;
	}
	for (my $i = $last; $i >= 0 && $symbols->[$i]{start} == $symbols->[$last]{start}; $i--) {
		push @nearest, $symbols->[$i];
	}
	my @best = best_of(@covering);
	if (!@best && @nearest) {
		my @sizeless = best_of(@nearest);
		my ($section) = grep { $_->[2] eq $sizeless[0]{section} } @$sections;
		@best = @sizeless if $sizeless[0]{end} == $sizeless[0]{start} && $section &&
			$address >= $section->[0] && $address < $section->[1];
	}
	return (\@best, \@covering, \@nearest);
}

1;
