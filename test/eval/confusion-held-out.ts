/**
 * Tool lists that had no part in choosing the threshold of `eval --confusion`, of other kinds and in other styles: terse
 * and long descriptions, actions as well as searches, synonyms without a common word, opposites with the same words, and
 * one thing by two keys. Labelled before they were measured.
 */
import type { LabelledList, LabelledTool } from "./confusion-pairs.js";

const t = (name: string, description: string, ...args: readonly string[]): LabelledTool => ({ name, description, args });

export const HELD_OUT: readonly LabelledList[] = [
  {
    title: "files, terse",
    tools: [
      t("read", "Read a file.", "path"),
      t("cat", "Print the contents of a file.", "path"),
      t("write", "Write a file.", "path", "content"),
      t("delete", "Delete a file.", "path"),
      t("move", "Move a file.", "source", "destination"),
      t("rename", "Rename a file.", "old_name", "new_name"),
      t("glob", "List files that match a pattern.", "pattern"),
      t("stat", "Size, owner and times of a file.", "path"),
    ],
    confusable: [["read", "cat"], ["move", "rename"]],
  },
  {
    title: "calendar, opposites",
    tools: [
      t("create_event", "Creates an event in the user's calendar with a title, a start, an end and optional guests, and sends invitations to the guests.", "title", "start", "end", "guests"),
      t("schedule_meeting", "Puts a meeting with a subject and attendees into the calendar at a given time and invites the attendees.", "subject", "attendees", "start", "duration"),
      t("delete_event", "Deletes an event from the user's calendar and tells its guests that it was cancelled.", "event_id"),
      t("accept_invitation", "Accepts an invitation to an event on behalf of the user and informs the organiser.", "invitation_id"),
      t("decline_invitation", "Declines an invitation to an event on behalf of the user and informs the organiser.", "invitation_id"),
      t("find_free_time", "Finds periods in which all of the given people have nothing in their calendars.", "people", "from", "to"),
      t("check_availability", "Says when a group of people are all free between two dates.", "persons", "start_date", "end_date"),
      t("list_calendars", "Lists the calendars that the user owns or that others share with the user.", "owner"),
    ],
    confusable: [["create_event", "schedule_meeting"], ["find_free_time", "check_availability"]],
  },
  {
    title: "maps",
    tools: [
      t("geocode", "Convert a postal address into latitude and longitude.", "address"),
      t("reverse_geocode", "Convert latitude and longitude into a postal address.", "latitude", "longitude"),
      t("locate_address", "Get coordinates for a street address.", "street", "city"),
      t("directions", "Turn-by-turn route from an origin to a destination by car, bicycle or on foot.", "origin", "destination", "mode"),
      t("travel_time", "Minutes and kilometres between an origin and a destination by car, bicycle or on foot.", "origin", "destination", "mode"),
      t("nearby_places", "Restaurants, shops and sights around a point, nearest first.", "latitude", "longitude", "category"),
      t("points_of_interest", "Sights, shops and restaurants close to a location.", "location", "radius"),
      t("elevation", "Height above sea level of a point.", "latitude", "longitude"),
      t("timezone_at", "Name and offset of the time zone of a point.", "latitude", "longitude"),
    ],
    confusable: [["geocode", "locate_address"], ["nearby_places", "points_of_interest"]],
  },
  {
    title: "customer records, actions on one entity",
    tools: [
      t("create_contact", "Create a contact in the CRM. Required: email. Fails when a contact with this email exists.", "email", "first_name", "last_name", "phone"),
      t("update_contact", "Update fields of a contact in the CRM. Fields that are not given stay as they are.", "contact_id", "email", "first_name", "last_name", "phone"),
      t("upsert_contact", "Create a contact in the CRM, or update it when one with this email exists.", "email", "first_name", "last_name", "phone"),
      t("archive_contact", "Archive a contact of the CRM. It can be restored for 90 days.", "contact_id"),
      t("merge_contacts", "Merge two contacts of the CRM into one; the second one is archived.", "contact_id", "duplicate_id"),
      t("search_contacts", "Search contacts of the CRM by name, email, company or phone.", "query", "owner"),
      t("lookup_person", "Find a person in the CRM by name, phone, company or email.", "text"),
      t("log_call", "Record that somebody called a contact, with notes and the length of the call.", "contact_id", "notes", "minutes"),
      t("pipeline_report", "Sum of open deals by stage and by owner for a quarter.", "quarter", "team"),
    ],
    confusable: [["create_contact", "upsert_contact"], ["update_contact", "upsert_contact"], ["search_contacts", "lookup_person"]],
  },
  {
    title: "databases, tools of two servers",
    tools: [
      t("execute_sql", "Execute a SQL statement on the warehouse and return its rows as JSON.", "statement"),
      t("run_query", "Runs a query against the analytics database. Returns rows.", "sql", "max_rows"),
      t("explain_query", "Show the plan that the optimiser makes for a SQL statement without executing it.", "statement"),
      t("list_tables", "List the tables of a schema with their sizes.", "schema"),
      t("show_tables", "Names of all tables in a database.", "database"),
      t("describe_table", "Columns of a table with types, defaults and comments.", "table"),
      t("sample_rows", "A few random rows of a table.", "table", "n"),
      t("kill_session", "End a running session of the database.", "session_id"),
      t("slow_queries", "Statements that took longest today, with how often they ran.", "min_ms"),
    ],
    confusable: [["execute_sql", "run_query"], ["list_tables", "show_tables"]],
  },
  {
    title: "smart home",
    tools: [
      t("turn_on_light", "Turn on a light in a room.", "room", "brightness"),
      t("turn_off_light", "Turn off a light in a room.", "room"),
      t("set_brightness", "Dim a lamp or make it brighter, from 0 to 100 percent.", "lamp", "percent"),
      t("set_temperature", "Set the thermostat of a room to a temperature in degrees.", "room", "degrees"),
      t("heat_room", "Warm up a room to the degrees that are wanted.", "room", "target"),
      t("lock_door", "Lock a door.", "door"),
      t("open_blinds", "Raise the blinds of a window.", "window"),
      t("energy_use", "Kilowatt hours that each appliance used in a period.", "from", "to"),
      t("power_consumption", "Electricity that devices consumed between two dates.", "start", "end"),
    ],
    confusable: [["set_temperature", "heat_room"], ["energy_use", "power_consumption"]],
  },
  {
    title: "health, long descriptions",
    tools: [
      t("search_trials", "Search clinical trials by condition, intervention and country. Returns title, phase, status and sponsor of each study. Use this when a patient or clinician asks which studies recruit.", "condition", "intervention", "country"),
      t("find_studies", "Finds clinical studies for a disease, with their phase, sponsor and recruitment status. Use it for questions about research that patients can join.", "disease", "status"),
      t("drug_interactions", "Lists interactions between two or more drugs with severity and mechanism. Use before a prescription is changed.", "drugs"),
      t("drug_label", "Returns the official label of a drug: indications, dosage, warnings and side effects.", "drug"),
      t("adverse_events", "Returns reports of side effects of a drug that were sent to the authority, by year and seriousness.", "drug", "year"),
      t("icd_code", "Returns the ICD-10 code of a diagnosis and its parents in the classification.", "diagnosis"),
      t("diagnosis_of_code", "Returns the diagnosis that an ICD-10 code stands for.", "code"),
      t("lab_reference", "Returns the normal range of a laboratory value by age and sex.", "test", "age", "sex"),
      t("normal_values", "Gives the reference range of a lab test for a patient's sex and age.", "analyte", "patient_age", "patient_sex"),
    ],
    confusable: [["search_trials", "find_studies"], ["lab_reference", "normal_values"]],
  },
  {
    title: "one verb, many nouns",
    tools: [
      t("get_user", "Get a user by id.", "user_id"),
      t("get_account", "Get an account by id.", "account_id"),
      t("get_user_by_email", "Get a user by email.", "email"),
      t("get_profile", "Get the profile of a user.", "user_id"),
      t("get_team", "Get a team by id.", "team_id"),
      t("get_project", "Get a project by id.", "project_id"),
      t("get_build", "Get a build by id.", "build_id"),
      t("get_device", "Get a device by id.", "device_id"),
      t("get_license", "Get a license by id.", "license_id"),
    ],
    confusable: [["get_user", "get_account"], ["get_user", "get_profile"]],
  },
  {
    title: "messages",
    tools: [
      t("send_email", "Send an email to one or more recipients.", "to", "subject", "body"),
      t("send_message", "Send a message to a channel or a person of the workspace.", "channel", "text"),
      t("post_to_channel", "Post a text in a channel of the workspace.", "channel", "text"),
      t("reply_in_thread", "Answer a message within its thread.", "thread_id", "text"),
      t("search_messages", "Search the messages of the workspace, newest first.", "query", "from", "channel"),
      t("search_mail", "Search the mailbox of the user, newest first.", "query", "from", "folder"),
      t("list_unread", "List mails that the user has not opened.", "folder"),
      t("mark_as_read", "Mark a mail as read.", "mail_id"),
      t("mark_as_spam", "Mark a mail as spam.", "mail_id"),
    ],
    confusable: [["send_message", "post_to_channel"]],
  },
];
