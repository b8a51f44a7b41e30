//! What a store must do, whatever it keeps its runs in: through the public API only.
//!
//! A [`Backend`] says how a store is made that has nothing in it, and how it is opened again. All
//! of the suite is run for each of them: one line at the end of this file. What only a database file has
//! (views, damaged pages, tampering, crashes of a process in mid-write) is tested beside that backend.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::too_many_lines,
    reason = "a failing test may fail in any way"
)]

mod append;
mod asking;
mod calls;
mod copying;
mod database;
mod outcomes;
mod periods;
mod prepared;
mod queries;
mod recovering;
mod retention;
mod searching;
mod session_list;
mod sessions;
mod streams;
mod usage;

use runtape_store::{Options, Store};
#[cfg(unix)]
use runtape_tests::postgres::{Database, Layout};

/// Something that a store can be in, and that is gone when it is dropped.
trait Backend: Sync {
    /// How many chains its seals form.
    const CHAINS: u32;
    /// By how much fewer runs it is measured with: each takes some questions over a connection.
    const FEWER: i64 = 1;
    /// Tells whether such a store can be made here; if not, that was said.
    fn is_there() -> bool {
        true
    }
    /// Makes a store that has nothing in it.
    fn fresh() -> Self;
    /// Opens it, maybe once more.
    fn open(&self) -> Store;
    /// Opens it for reading.
    fn open_to_read(&self) -> Store;
}

/// A `SQLite` file.
struct SqliteFile(tempfile::TempDir);

impl Backend for SqliteFile {
    const CHAINS: u32 = 1;

    fn fresh() -> Self {
        // Where files are in memory, if there is such a place.
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let home = Self(directory.unwrap());
        drop(home.open());
        home
    }

    fn open(&self) -> Store {
        Store::open(self.0.path().join("db"), &Options::default()).unwrap()
    }

    fn open_to_read(&self) -> Store {
        Store::open(self.0.path().join("db"), &Options::read_only()).unwrap()
    }
}

/// A database on a server, whose tables are in one piece each or in eight.
#[cfg(unix)]
struct OnServer<const PARTITIONED: bool>(Database);

#[cfg(unix)]
type PostgresServer = OnServer<false>;
#[cfg(unix)]
type PartitionedServer = OnServer<true>;

#[cfg(unix)]
impl<const PARTITIONED: bool> Backend for OnServer<PARTITIONED> {
    const CHAINS: u32 = 64;
    const FEWER: i64 = 5;

    fn is_there() -> bool {
        runtape_tests::postgres::is_there()
    }

    fn fresh() -> Self {
        let layout = if PARTITIONED {
            Layout::Partitioned
        } else {
            Layout::Whole
        };
        Self(Database::fresh(layout).unwrap())
    }

    fn open(&self) -> Store {
        Store::open(self.0.address(), &Options::default()).unwrap()
    }

    fn open_to_read(&self) -> Store {
        Store::open(self.0.address(), &Options::read_only()).unwrap()
    }
}

/// Runs all of the suite for a backend.
macro_rules! hold_to_the_contract {
    ($name:ident, $backend:ident) => {
        hold_to_the_contract! {
            $name, $backend,
            append {
                records_and_tape_come_back_exactly,
                a_checkpoint_is_the_one_that_the_live_records_gave,
                a_record_shows_the_bytes_it_came_from,
                records_are_read_one_by_one_and_from_any_number_on,
                the_last_records_and_the_end_are_written_together_or_not_at_all,
                the_same_again_changes_nothing_and_other_content_is_refused,
                gaps_strangers_and_late_records_are_refused,
                children_share_the_tape_and_the_seal_of_their_root,
                replacing_records_keeps_the_tape_and_leaves_a_tombstone,
                a_run_that_turns_out_to_be_another_runtimes_is_that_ones_in_every_table,
                odd_numbers_and_deep_nesting_come_back,
                a_live_run_of_many_small_batches_comes_back,
                a_batch_is_all_or_nothing,
            }
            asking {
                auditors_are_answered,
                what_was_not_understood_is_told,
                a_query_of_ones_own_may_only_read,
                rows_that_are_asked_for_come_in_pages,
            }
            calls {
                calls_are_chosen_by_class_name_and_result,
                files_are_told_once_with_their_reads_and_writes,
                files_of_a_child_are_those_of_the_directory_of_its_root,
                hosts_are_told_and_guesses_are_marked,
            }
            copying {
                a_run_of_another_store_is_copied_once,
                a_run_of_a_bundle_is_left_to_one_who_writes_it_in_another_form,
            }
            database {
                a_database_says_what_it_is,
                a_copy_of_a_file_is_the_same_database,
                erasing_what_was_deleted_changes_nothing_else,
                a_store_in_memory_is_gone_with_its_handle,
            }
            outcomes {
                a_run_has_one_outcome_everywhere,
                what_is_unfinished_did_not_fail,
                a_run_without_a_prompt_is_called_by_its_command,
            }
            periods {
                a_period_selects_what_happened_in_it,
                what_an_old_run_does_now_is_not_missed,
            }
            prepared {
                all_that_can_be_asked_is_the_same,
                the_same_again_changes_nothing_and_other_content_is_refused,
                a_run_that_is_not_whole_is_not_prepared,
                many_at_once_are_what_they_are_one_by_one,
                a_failed_batch_leaves_none_of_its_runs,
            }
            queries {
                filters_let_through_what_they_say,
                ids_are_found_by_prefixes_of_any_length,
                pages_follow_one_another_without_gap_or_overlap,
                a_job_is_what_its_runs_are,
                steps_are_listed,
                a_search_finds_all_that_was_committed,
                a_resumed_session_is_not_counted_twice,
            }
            recovering {
                a_run_whose_writer_is_gone_can_be_taken_over,
                records_are_given_up_and_made_again,
                a_run_is_replaced_piece_by_piece,
                a_run_is_open_then_sealed_and_verified_by_itself,
                a_head_that_was_kept_proves_what_came_before,
                rebuilding_changes_nothing_that_is_right,
                a_bundle_is_taken_in_whole,
            }
            retention {
                deleting_leaves_tombstones_and_nothing_else,
                tapes_are_dropped_by_date_and_records_stay,
                tapes_are_dropped_by_name_and_runs_deleted_for_a_reason,
                what_a_living_writer_writes_is_not_deleted,
                what_somebody_works_on_is_neither_deleted_nor_stripped_of_its_tape,
                a_writer_that_opens_a_run_while_it_is_deleted_has_a_whole_run_or_none,
            }
            searching {
                an_index_is_completed_in_pieces,
                any_text_can_be_searched_for,
                errors_and_notices_are_found,
                parts_of_words_and_patterns_are_found,
                the_latest_come_first_in_any_way,
                the_grammar_is_the_same_everywhere,
                hits_are_those_of_the_fields,
            }
            session_list {
                a_session_is_what_its_runs_are,
                a_session_is_told_whole_whichever_run_is_let_through,
                pages_of_sessions_follow_one_another_without_gap_or_overlap,
                a_title_is_found_where_it_was_told,
                a_list_takes_twice_as_long_for_twice_the_sessions,
            }
            sessions {
                adding_up_takes_twice_as_long_for_twice_the_runs_of_a_session,
                a_total_of_a_session_counts_what_it_holds_beyond_the_last_one,
                a_total_of_a_session_counts_what_it_holds_beyond_its_first_run,
                without_the_run_in_the_middle_the_next_one_counts_more,
                sessions_that_run_side_by_side_have_nothing_to_do_with_each_other,
                a_total_that_fell_counts_nothing_rather_than_less,
                the_order_in_which_runs_are_stored_does_not_matter,
            }
            streams {
                all_streams_come_back,
                a_run_that_is_written_at_once_has_the_same_tape,
                each_stream_goes_on_where_it_ended,
                records_are_replaced_only_where_the_streams_they_came_from_are_there,
            }
            usage {
                every_grouping_comes_to_the_same_total,
                many_runs_come_to_the_same_whether_they_wait_or_not,
                a_run_across_midnight_keeps_its_cost,
                what_comes_with_a_bundle_is_among_the_sums,
            }
        }
    };
    ($name:ident, $backend:ident, $($module:ident { $($test:ident,)* })*) => {
        mod $name {
            $(mod $module {
                $(#[test]
                fn $test() {
                    if <crate::$backend as crate::Backend>::is_there() {
                        crate::$module::$test::<crate::$backend>();
                    }
                })*
            })*
        }
    };
}

hold_to_the_contract!(sqlite, SqliteFile);
#[cfg(unix)]
hold_to_the_contract!(postgres, PostgresServer);
#[cfg(unix)]
hold_to_the_contract!(postgres_partitioned, PartitionedServer);
